import type { Definitions } from '#ports/definitions';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { Page, Store } from '#ports/store';
import { hashOf } from '#roles/definitions/pinning';
import { newRecord, type StoredEntry } from '#roles/scheduler/instance';
import { countersAfterRestore } from './restore.ts';

export interface MissingPorts {
  readonly store: Pick<Store, 'orderWithoutState' | 'putMissingState' | 'pages'>;
  readonly definitions: Definitions;
}

/**
 * Gives an order whose state is missing an unreadable one, so that the order is quarantined and comes to a person. The last lines of its
 * journal were part of the state, so nobody knows them, and the order cannot go on by itself. Resolves to whether the order has a state now.
 */
export async function putMissing(orderId: string, ports: MissingPorts, now: number): Promise<boolean> {
  const order = await ports.store.orderWithoutState(orderId);
  if (!order) return false;
  const state = stateOfMissing(order, await ports.store.pages(orderId), ports.definitions);
  await ports.store.putMissingState({
    ...state,
    updatedAt: now,
    worklist: 'due',
    worklistAt: now,
    nextDueAt: now,
    nextDueFor: { kind: 'timer' },
  });
  return true;
}

/** The time and the number of failures that the lost state had are unknown. A person ends the order, so that they are never used. */
const unknownLimits = { stepMs: 60_000, maxFailures: 3 };

/** Returns a state that stands for the missing one: claimed at some time, with counters above all that any process has seen. */
export function stateOfMissing(order: OrderRecord, pages: readonly Page[], definitions: Definitions): StateRecord {
  const { name, version } = order.workflow;
  const definition = definitions.program(name, version)?.definition;
  const claims = (pages.flat() as unknown as readonly StoredEntry[]).flatMap((line) => (line.type === 'OrderClaimed' ? [line.epoch] : []));
  const record = newRecord(order, definition ?? {}, { ...unknownLimits, hash: definition ? hashOf(definition) : null });
  return { ...record, ...countersAfterRestore({ epoch: Math.max(0, ...claims) }), processState: 'Processing', blob: '' };
}
