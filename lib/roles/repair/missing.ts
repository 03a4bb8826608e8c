import type { Definitions } from '#ports/definitions';
import { collections, type Document } from '#ports/documents';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { Page, Store } from '#ports/store';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { hashOf } from '#roles/definitions/pinning';
import { newRecord, type StoredEntry } from '#roles/scheduler/instance';
import { causesIn, countersAfterRestore } from './restore.ts';

export interface MissingPorts {
  readonly store: Pick<Store, 'orderWithoutState' | 'putMissingState' | 'pages' | 'listed'>;
  readonly definitions: Definitions;
}

/**
 * Stores an unreadable state for an order whose state is missing, so that the order is quarantined and comes to a person. The last lines of
 * its journal were part of the state, so nobody knows them, and the order cannot go on by itself. The records of its exceptions and tasks
 * show which numbers new ones must not have. Resolves to whether the order has a state now.
 */
export async function putMissing(orderId: string, ports: MissingPorts, now: number): Promise<boolean> {
  const order = await ports.store.orderWithoutState(orderId);
  if (!order) return false;
  const state = stateOfMissing(order, await ports.store.pages(orderId), ports.definitions);
  await ports.store.putMissingState({
    ...state,
    ...causesIn(await causeRecords(orderId, ports.store), order),
    updatedAt: now,
    worklist: 'due',
    worklistAt: now,
    nextDueAt: now,
    nextDueFor: { kind: 'timer' },
  });
  return true;
}

/** The largest number of exceptions, and of tasks, that are read: those with the highest numbers. More are not open at the same time. */
const recordsMax = 100;

async function causeRecords(orderId: string, store: Pick<Store, 'listed'>): Promise<readonly Document[]> {
  const list = { index: 'collection', name: collections.order(orderId) } as const;
  const read = (kind: 'EXCEPTION' | 'TASK') =>
    store.listed({ list, order: 'descending', from: `${kind}#`, to: `${kind}#:`, limit: recordsMax });
  return (await allSettledOrThrow([read('EXCEPTION'), read('TASK')])).flatMap(({ items }) => items);
}

/** Stand-ins for the limits of the lost state, which are unknown. They are never used, because a person ends the order. */
const unknownLimits = { stepMs: 60_000, maxFailures: 3 };

/** Returns a state in place of the missing one: claimed at some time, with counters above all that any process has seen. */
export function stateOfMissing(order: OrderRecord, pages: readonly Page[], definitions: Definitions): StateRecord {
  const lines = pages.flat() as unknown as readonly StoredEntry[];
  const { name } = order.workflow;
  const version = versionIn(lines) ?? order.workflow.version;
  const definition = definitions.program(name, version)?.definition;
  const claims = lines.flatMap((line) => (line.type === 'OrderClaimed' ? [line.epoch] : []));
  const moved = { ...order, workflow: { name, version } };
  const record = newRecord(moved, definition ?? {}, { ...unknownLimits, hash: definition ? hashOf(definition) : null });
  return { ...record, ...countersAfterRestore({ epoch: Math.max(0, ...claims) }), processState: 'Processing', blob: '' };
}

/** Returns the version to which an instruction has moved the order last; undefined if none has. */
function versionIn(lines: readonly StoredEntry[]): number | undefined {
  const moved = lines.findLast((line) => line.type === 'InstructionGiven' && line.kind === 'migrate');
  return moved?.type === 'InstructionGiven' ? (moved.after as { readonly version?: number } | undefined)?.version : undefined;
}
