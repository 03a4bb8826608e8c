import type { Program } from '#core/definition/program';
import { withRuledUndos } from '#core/definition/ruled-undos';
import { workflowRef } from '#core/definition/workflow-ref';
import type { Definitions } from '#ports/definitions';
import { rolloutMs, UnreadableRecordError } from '#ports/errors';
import type { StateHead, StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { changedReason } from '#roles/definitions/pinning';
import { decodeInstance } from './instance.ts';
import type { Loaded } from './types.ts';

export interface LoadPorts {
  readonly store: Pick<Store, 'load'>;
  readonly definitions: Definitions;
}

/**
 * Loads an order with its program and its instance. Resolves to undefined if there is no such order; rejects with UnreadableRecordError.
 */
export async function loadOrder(orderId: string, { store, definitions }: LoadPorts): Promise<Loaded | undefined> {
  const found = await store.load(orderId);
  if (!found) return undefined;
  const instance = decodeInstance(found.state);
  const program = withRuledUndos(programFor(orderId, found.state, definitions), instance.state);
  return { program, order: found.order, record: found.state, instance };
}

/** Returns the program of an order; throws UnreadableRecordError if the app lacks it, or has another program under its version. */
export function programFor(orderId: string, record: StateRecord, definitions: Definitions): Program {
  const program = definitions.programOf(record);
  if (program) return program;
  const { workflow, submittedAt } = record;
  const { name, version } = workflow;
  // During a rollout, a process with a newer app may have created the order. Until the rollout is over, the order is left to such a
  // process.
  if (definitions.program(name, version)) throw new UnreadableRecordError(orderId, changedReason(workflow), submittedAt + rolloutMs);
  const newest = definitions.newest(name)?.definition.version ?? 0;
  const newerUntil = version > newest ? submittedAt + rolloutMs : 0;
  throw new UnreadableRecordError(orderId, `its workflow ${workflowRef(workflow)} is not part of this app`, newerUntil);
}

/** Loads an order; resolves to undefined also if it cannot be read. */
export const readableOrder = (orderId: string, ports: LoadPorts): Promise<Loaded | undefined> =>
  ifReadable(() => loadOrder(orderId, ports));

/** Reads the head of an order; resolves to undefined also if it cannot be read. */
export const readableHead = (orderId: string, store: Pick<Store, 'head'>): Promise<StateHead | undefined> =>
  ifReadable(() => store.head(orderId));

/** Returns the reference that the client gave to an order; undefined if it gave none, or if the order cannot be read. */
export const referenceOf = async (orderId: string, store: Pick<Store, 'load'>): Promise<string | undefined> =>
  (await ifReadable(() => store.load(orderId)))?.order.reference;

async function ifReadable<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}
