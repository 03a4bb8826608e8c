import { hash } from 'node:crypto';
import type { WorkflowDefinition } from '#core/definition/definition';
import { steeringText } from '#core/definition/steering';

const hashes = new WeakMap<WorkflowDefinition, string>();

/** A short name of what steers a definition: 96 bits of SHA-256. It is written with every order, so it has 16 characters. */
export function hashOf(definition: WorkflowDefinition): string {
  const known = hashes.get(definition);
  if (known !== undefined) return known;
  const made = hash('sha256', steeringText(definition), 'base64url').slice(0, 16);
  hashes.set(definition, made);
  return made;
}

/** Whether an order that began with this hash goes on by the definition; an order of an older program names none. */
export const isPinnedTo = (definition: WorkflowDefinition, pinned: string | null | undefined): boolean =>
  !pinned || pinned === hashOf(definition);

/** Why an order is not gone on with whose version is not what it was. */
export const changedReason = (name: string, version: number): string =>
  `its workflow ${name}@${version} has changed since this order began. Give the changed workflow a new version, or deploy the old one again, then resubmit the order`;
