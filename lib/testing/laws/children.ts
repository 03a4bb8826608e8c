import { generationOf, idempotencyKeyOf, requestIdFrom } from '#core/data/ids';
import { childIdOf } from '#roles/submission/submission';
import type { History, Tracked } from '#testing/world/history';
import { type Law, on } from './law.ts';

/** F-80, F-100: an order that was called ends with the one that called it, and is undone with it. */
export function children(): Law {
  let putBack: ReadonlySet<string> = new Set();

  /** Without those that a restored order called in the time that it knows nothing of: the restore's tool tells a person of them. */
  const calledBy = (orderId: string, history: History): readonly Tracked[] => {
    const called = history.childrenOf(orderId);
    if (!putBack.has(orderId)) return called;
    const asked = askedBy(history.orders.get(orderId));
    return called.filter((child) => putBack.has(child.orderId) || asked.has(child.orderId));
  };

  /** Who is terminated waits for nobody: what he called is canceled, and is through with that later. */
  function outlived(orderId: string, history: History): string | undefined {
    const order = history.orders.get(orderId);
    const { processState, outcome } = order?.state ?? {};
    if (processState !== 'Processed' || outcome === 'terminated') return undefined;
    // What it had called nobody could read any more.
    if (order?.damagedAt !== undefined) return undefined;
    // A person has said that it is seen to: whoever goes on with it is his business.
    if (order?.journal.some(({ type }) => type === 'MarkedCompensated')) return undefined;
    const alive = calledBy(orderId, history).find(({ state }) => state.processState !== 'Processed');
    return alive && `${orderId} is ${outcome}, but ${alive.orderId}, which it called, is ${alive.state.processState}`;
  }

  return {
    name: 'children',
    after: on(['written', 'restored'], (observation, history) => {
      if (observation.type === 'restored') {
        putBack = new Set(observation.orders);
        return undefined;
      }
      const { orderId } = observation.after;
      const caller = history.orders.get(orderId)?.caller;
      return outlived(orderId, history) ?? (caller === undefined ? undefined : outlived(caller, history));
    }),
    atEnd: (history) =>
      [...history.orders.values()].flatMap(({ orderId, damagedAt, journal, state: { outcome } }) => {
        // What nobody can read is not taken back, but a person sees to it.
        const isSeenTo = journal.some(({ type }) => type === 'MarkedCompensated');
        if (damagedAt !== undefined) return [];
        if (outcome !== 'compensated' && outcome !== 'canceled' && outcome !== 'rejected') return [];
        const done = calledBy(orderId, history).filter(
          ({ damagedAt: at, state }) => state.outcome === 'completed' && (at === undefined || !isSeenTo),
        );
        return done.map((child) => `${orderId} is ${outcome}, but ${child.orderId}, which it called, is completed`);
      }),
  };
}

/** The orders that its steps have called, if they are calls, as far as it knows. */
function askedBy(order: Tracked | undefined): ReadonlySet<string> {
  const { orderId = '', journal = [] } = order ?? {};
  return new Set(
    journal.flatMap((fact) => {
      if (fact.type !== 'StepRequested') return [];
      const generation = generationOf(requestIdFrom(orderId, fact.path, fact.attemptId));
      return [childIdOf(idempotencyKeyOf(orderId, fact.path, generation))];
    }),
  );
}
