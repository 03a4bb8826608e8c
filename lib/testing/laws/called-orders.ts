import { generationOf, idempotencyKeyOf, requestIdFrom } from '#core/data/ids';
import { childIdOf } from '#roles/submission/submission';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

/** A called order ends before its caller ends, and is compensated with its caller (F-80, F-100). */
export function calledOrders(): Law {
  let restored: ReadonlySet<string> = new Set();

  /** Returns the called orders that the caller knows of. After a restore, the restore tool reports the others to a person. */
  const knownCalls = (orderId: string, history: History): readonly Tracked[] => {
    const called = history.calledBy(orderId);
    if (!restored.has(orderId)) return called;
    const known = callsIn(history.orders.get(orderId));
    return called.filter((child) => restored.has(child.orderId) || known.has(child.orderId));
  };

  /**
   * Returns what is wrong if a called order outlives its caller. Called orders of a terminated caller are exempt: they are canceled, and
   * end later.
   */
  function outlived(orderId: string, history: History): string | undefined {
    const order = history.orders.get(orderId);
    const { processState, outcome } = order?.state ?? {};
    if (processState !== 'Processed' || outcome === 'terminated') return undefined;
    // A damaged record has lost the list of the orders that its order called.
    if (order?.damagedAt !== undefined) return undefined;
    // An operator has marked an undo as done, and is responsible for the called orders that continue.
    if (order?.journal.some(({ type }) => type === 'MarkedCompensated')) return undefined;
    const alive = knownCalls(orderId, history).find(({ state }) => state.processState !== 'Processed');
    return alive && `order ${orderId} is ${outcome}, but the order ${alive.orderId} that it called is ${alive.state.processState}`;
  }

  return {
    name: 'called orders',
    after: on(['written', 'restored'], (observation, history) => {
      if (observation.type === 'restored') {
        restored = new Set(observation.orders);
        return undefined;
      }
      const { orderId } = observation.after;
      const caller = history.orders.get(orderId)?.caller;
      return outlived(orderId, history) ?? (caller === undefined ? undefined : outlived(caller, history));
    }),
    atEnd: (history) =>
      [...history.orders.values()].flatMap(({ orderId, damagedAt, journal, state: { outcome } }) => {
        // An unreadable called order cannot be compensated, so an operator marks the undo of its call as done.
        const isMarked = journal.some(({ type }) => type === 'MarkedCompensated');
        if (damagedAt !== undefined) return [];
        if (outcome !== 'compensated' && outcome !== 'canceled' && outcome !== 'rejected') return [];
        const done = knownCalls(orderId, history).filter(
          ({ damagedAt: at, state }) => state.outcome === 'completed' && (at === undefined || !isMarked),
        );
        return done.map((child) => `order ${orderId} is ${outcome}, but the order ${child.orderId} that it called is completed`);
      }),
  };
}

/** Returns the ids of the orders that an order has called, according to its journal. */
function callsIn(order: Tracked | undefined): ReadonlySet<string> {
  const { orderId = '', journal = [] } = order ?? {};
  return new Set(
    journal.flatMap((fact) => {
      if (fact.type !== 'StepRequested') return [];
      const generation = generationOf(requestIdFrom(orderId, fact.path, fact.attemptId));
      return [childIdOf(idempotencyKeyOf(orderId, fact.path, generation))];
    }),
  );
}
