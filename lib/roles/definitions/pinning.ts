import { hash } from 'node:crypto';
import type { WorkflowDefinition } from '#core/definition/definition';
import { steeringText } from '#core/definition/steering';
import { type WorkflowRef, workflowRef } from '#core/definition/workflow-ref';

const hashes = new WeakMap<WorkflowDefinition, string>();

/** Returns a hash of the parts of a definition that affect execution: 96 bits of SHA-256. Each order stores its 16 characters. */
export function hashOf(definition: WorkflowDefinition): string {
  const known = hashes.get(definition);
  if (known !== undefined) return known;
  const made = hash('sha256', steeringText(definition), 'base64url').slice(0, 16);
  hashes.set(definition, made);
  return made;
}

/** Whether an order that began with this hash may continue with the definition. Orders of older releases have no hash. */
export const isPinnedTo = (definition: WorkflowDefinition, pinned: string | null | undefined): boolean =>
  !pinned || pinned === hashOf(definition);

/** Returns why an order cannot continue after its workflow changed within a version. */
export const changedReason = (workflow: WorkflowRef): string =>
  `its workflow ${workflowRef(workflow)} has changed since this order began. Give the changed workflow a new version, or deploy the old one again, then resubmit the order`;
