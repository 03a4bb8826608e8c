import { isKindOf } from '#core/data/fault';
import { type Law, on, writerOf } from './law.ts';

/** The largest number of handlers that a person can give to one order for one kind of exception. */
const timesMax = 3;
/** The largest number of handlers that run for one order at the same time. */
const atOnceMax = 4;

/**
 * If a person has given an order a handler for a fault, the handler begins when the fault blocks the order: in the same write, and before
 * any rule decides (S45). The amendment that gives the handler starts nothing.
 */
export function givenHandlers(): Law {
  /** The handlers that began, by order. */
  const began = new Map<string, number>();
  return {
    name: 'given handlers',
    after: on(['written'], ({ before: record, after }, history) => {
      const order = history.orders.get(after.orderId);
      if (!order?.before || !record || order.damagedAt !== undefined || writerOf(after) === undefined) return undefined;
      const { newFacts, before, orderId } = order;
      const started = newFacts.filter(({ type }) => type === 'HandlerStarted');
      const count = began.get(orderId) ?? 0;
      began.set(orderId, count + started.length);
      const amends = newFacts.some((fact) => fact.type === 'InstructionGiven' && fact.kind === 'amend');
      // A timer or the deadline of a canceled step may be due already. The same write then applies it, which may end the order.
      const isDue = record.nextDueAt !== null && record.nextDueAt <= after.updatedAt;
      if (amends && !isDue && after.processState !== record.processState && after.processState !== 'Error')
        return `order ${orderId}: an amendment led from ${record.processState} to ${after.processState}`;
      const given = before.state.amended?.handle ?? [];
      const blocked = newFacts.find((fact) => fact.type === 'OrderBlocked');
      // A person may have ended the order in the write that blocks it.
      if (after.processState === 'Processed') return undefined;
      if (blocked?.type !== 'OrderBlocked' || !given.some(({ fault }) => isKindOf(blocked.fault.type, fault))) return undefined;
      const mayBeFull = count >= timesMax || (before.rules?.handlers ?? []).length >= atOnceMax;
      return started.length > 0 || mayBeFull
        ? undefined
        : `order ${orderId} was blocked for ${blocked.fault.type}, and the handler that a person gave it did not begin`;
    }),
  };
}
