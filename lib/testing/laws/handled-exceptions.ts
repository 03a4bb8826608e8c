import type { JournalEntry } from '#roles/scheduler/instance';
import { type Law, on, type Setting } from './law.ts';

/**
 * An exception is handled at most once, so that control comes back once (S29). A rule in dry-run changes nothing: it never acts, and the
 * history says once for each order what it would have done (S30).
 */
export function handledExceptions({ isDryRule }: Pick<Setting, 'isDryRule'>): Law {
  /** What may happen once, by order. A restore takes orders back to an earlier time. */
  const seen = new Map<string, Set<string>>();
  return {
    name: 'handled exceptions',
    after: on(['written', 'restored'], (observation, history) => {
      if (observation.type === 'restored') {
        seen.clear();
        return undefined;
      }
      const order = history.orders.get(observation.after.orderId);
      if (!order || order.damagedAt !== undefined) return undefined;
      const known = seen.get(order.orderId) ?? new Set();
      seen.set(order.orderId, known);
      for (const fact of order.newFacts) {
        if (fact.type === 'RuleActed' && isDryRule(fact.ruleId)) return `order ${order.orderId}: the rule ${fact.ruleId} acts in dry-run`;
        const once = onceIn(fact);
        if (once !== undefined && known.has(once)) return `order ${order.orderId}: ${once} a second time`;
        if (once !== undefined) known.add(once);
      }
      return undefined;
    }),
  };
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
