import type { JournalEntry } from '#roles/scheduler/instance';
import type { Tracked } from '#testing/world/history';
import { type Law, on, type Setting } from './law.ts';

/**
 * An exception is handled at most once, so that its order gets control back once (S29). A rule in dry-run changes nothing: it never acts,
 * and the history says once for each order what it would have done (S30). An order learns of the end of its handler (S29).
 */
export function handledExceptions({ isDryRule }: Pick<Setting, 'isDryRule'>): Law {
  /** Events that may happen once for each order. A restore clears them, because it takes orders back to an earlier time. */
  const seen = new Map<string, Set<string>>();
  const endedAt = new Map<string, number>();
  return {
    name: 'handled exceptions',
    after: on(['written', 'restored'], (observation, history) => {
      if (observation.type === 'restored') {
        seen.clear();
        return undefined;
      }
      const { after } = observation;
      if (after.processState === 'Processed') endedAt.set(after.orderId, endedAt.get(after.orderId) ?? after.updatedAt);
      const order = history.orders.get(after.orderId);
      if (!order || order.damagedAt !== undefined) return undefined;
      const known = seen.get(order.orderId) ?? new Set();
      seen.set(order.orderId, known);
      for (const fact of order.newFacts) {
        if (fact.type === 'RuleActed' && isDryRule(fact.ruleId)) return `order ${order.orderId}: the rule ${fact.ruleId} acts in dry-run`;
        const once = onceIn(fact);
        if (once !== undefined && known.has(once)) return `order ${order.orderId}: ${once} a second time`;
        if (once !== undefined) known.add(once);
      }
      return forgottenHandler(order, endedAt);
    }),
  };
}

/** An order learns of the end of its handler within this time, even if the message about it was lost. */
const heardOfWithinMs = 1_800_000;

/** Returns a handler that ended long before this write, although its order still waited for it when a person gave an instruction. */
function forgottenHandler({ orderId, before, state, newFacts }: Tracked, endedAt: ReadonlyMap<string, number>): string | undefined {
  if (!before || !newFacts.some((fact) => fact.type === 'InstructionGiven')) return undefined;
  const waited = (before.rules?.handlers ?? []).filter(({ control }) => control !== 'parallel');
  const forgotten = waited.find(
    (handler) => state.updatedAt - (endedAt.get(handler.orderId) ?? Number.POSITIVE_INFINITY) > heardOfWithinMs,
  );
  return forgotten && `order ${orderId} never learned that its handler ${forgotten.orderId} had ended`;
}

function onceIn(fact: JournalEntry): string | undefined {
  switch (fact.type) {
    case 'ExceptionDetected':
      return `${fact.exceptionId} was detected`;
    case 'ExceptionHandled':
      return `${fact.exceptionId} was handled`;
    case 'HandlerEnded':
      return `the handler of ${fact.exceptionId} ended`;
    case 'RuleWouldHave':
      return `the rule ${fact.ruleId} would have acted`;
    default:
      return undefined;
  }
}

/** Whether one of these facts suspends the order: a rule says so, or a handler begins. */
export const isSuspendedByRule = (facts: readonly JournalEntry[]): boolean =>
  facts.some((fact) => fact.type === 'HandlerStarted' || (fact.type === 'RuleActed' && fact.action.kind === 'suspend'));
