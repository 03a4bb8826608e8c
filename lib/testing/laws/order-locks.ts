import type { StateRecord } from '#ports/records';
import type { JournalEntry } from '#roles/scheduler/instance';
import { hasLock, lockHolderOf } from '#roles/scheduler/lease';
import { type Law, on, type Setting } from './law.ts';

/**
 * An order has one owner at a time: while a person's lock lasts, nobody else gets the lock, and each write that adds to the journal has an
 * instruction of that person, or ends the lock (S37).
 */
export const orderLocks = ({ toleranceMs, now }: Setting): Law => ({
  name: 'order locks',
  after: on(['written'], ({ before, after }, history) => {
    if (!before) return undefined;
    const { orderId } = after;
    const owner = lockHolderOf(before);
    const { newFacts = [], damagedAt } = history.orders.get(orderId) ?? {};
    const next = lockHolderOf(after);
    const isStill = owner !== undefined && (before.heldUntil ?? 0) > now() + toleranceMs;
    if (isStill && next !== undefined && next !== owner) return `order ${orderId}: ${next} has got the lock that ${owner} still holds`;
    // The journal of a damaged order proves nothing.
    if (!isStill || damagedAt !== undefined || newFacts.length === 0 || after.blob === before.blob) return undefined;
    if (newFacts.some((fact) => isOf(fact, owner))) return undefined;
    return `order ${orderId} was locked by ${owner}, and still this was written: ${newFacts.map(({ type }) => type).join(', ')}`;
  }),
});

/** Whether a line says what the owner of the lock has done, or who has ended the lock. */
const isOf = (fact: JournalEntry, owner: string): boolean =>
  fact.type === 'OrderUnlocked' || ((fact.type === 'OrderLocked' || fact.type === 'InstructionGiven') && fact.by === owner);

/**
 * A message that met a lock stays in the inbox of its order until it is sent again. At rest, only orders that are finished or locked have
 * messages in their inbox (S38).
 */
export function keptMessages(): Law {
  /** Kept messages by order and id, with the queue and the body, and whether they were sent since. */
  const kept = new Map<string, { readonly orderId: string; readonly queue: string; readonly body: string; isSent: boolean }>();
  const name = 'kept messages';
  return {
    name,
    after: on(['kept', 'drained', 'sent', 'forgotten'], (observation) => {
      if (observation.type === 'forgotten')
        for (const [key, { orderId }] of kept) if (observation.orderIds.includes(orderId)) kept.delete(key);
      if (observation.type === 'sent')
        for (const each of kept.values()) if (each.queue === observation.queue && each.body === observation.body) each.isSent = true;
      if (observation.type === 'kept') kept.set(`${observation.orderId} ${observation.id}`, { ...observation, isSent: false });
      if (observation.type !== 'drained') return undefined;
      const key = `${observation.orderId} ${observation.id}`;
      const drained = kept.get(key);
      kept.delete(key);
      return drained && !drained.isSent
        ? `order ${drained.orderId} has forgotten a message that it has not sent: ${drained.body}`
        : undefined;
    }),
    atEnd: ({ orders }) =>
      [...kept.values()].flatMap(({ orderId, body }) =>
        isOpen(orders.get(orderId)?.state) ? [`order ${orderId} is not locked any more, and still keeps ${body}`] : [],
      ),
  };
}

const isOpen = (state: StateRecord | undefined): boolean => state !== undefined && state.processState !== 'Processed' && !hasLock(state);
