import { isKindOf } from '#core/data/fault';
import type { KeptEvent } from './memory.ts';
import type { EventPattern, Rule } from './rule.ts';
import type { RuleEvent, Situation } from './situation.ts';

type Event = Pick<RuleEvent, 'kind' | 'type' | 'class' | 'step' | 'agent' | 'seconds'>;

/** Whether an event is one that the pattern describes. */
export const isOfPattern = (event: Event, { kind, type, class: faultClass, afterSeconds = 0 }: EventPattern): boolean =>
  event.kind === kind &&
  (type === undefined || isOfType(event, type)) &&
  (faultClass === undefined || event.class === faultClass) &&
  (event.seconds === undefined || event.seconds >= afterSeconds);

/** A fault's type counts with its ancestors: `Refused/CardDeclined` is a `CardDeclined` and a `Refused`. */
function isOfType({ kind, type = '' }: Event, wanted: string): boolean {
  if (kind !== 'exception') return type === wanted;
  return isKindOf(type, wanted) || (!wanted.includes('/') && type.split('/').includes(wanted));
}

/** Whether an event happened to a step that the rule is about. An event without a step is about the order, and fits every rule. */
export const isOfObject = ({ step, agent }: Event, { object = {} }: Rule): boolean =>
  (object.step === undefined || step === undefined || step === object.step) &&
  (object.agent === undefined || agent === undefined || agent === object.agent);

export const isOrderOf = ({ orderId, workflow }: Situation, { object = {} }: Rule): boolean =>
  (object.orderId === undefined || object.orderId === orderId) && (object.workflow === undefined || object.workflow === workflow.name);

/** The events that complete the list of a rule, or the patterns for which there is none. */
export type Combination =
  | { readonly isComplete: true; readonly events: ReadonlySet<string> }
  | { readonly isComplete: false; readonly missing: readonly EventPattern[] };

/**
 * Finds an event for each pattern of a list, all within `withinSeconds`. One of them is the current event. Each event counts for one
 * pattern. If several choices are possible, the oldest events count. The times of the events decide, and not the order of their arrival.
 */
export function combine(
  patterns: readonly EventPattern[],
  withinSeconds: number,
  current: KeptEvent,
  others: readonly KeptEvent[],
): Combination {
  const withinMs = withinSeconds * 1000;
  const near = [current, ...others.filter(({ at }) => Math.abs(at - current.at) <= withinMs)];
  const starts = [...new Set(near.map(({ at }) => at))].filter((at) => at <= current.at).toSorted((a, b) => a - b);
  let missing: readonly EventPattern[] = patterns;
  for (const start of starts) {
    const inside = near.filter(({ at }) => at >= start && at <= start + withinMs);
    const found = assign(patterns, inside);
    if (found.missing.length === 0) return { isComplete: true, events: found.events };
    if (found.missing.length < missing.length) missing = found.missing;
  }
  return { isComplete: false, missing };
}

/**
 * Assigns events to patterns by augmenting paths. The first event is assigned first. An event may get another pattern later, but never
 * loses its pattern.
 */
function assign(patterns: readonly EventPattern[], events: readonly KeptEvent[]) {
  // By index: two entries of a list may be the same object.
  const takenBy = new Map<number, KeptEvent>();
  const place = (event: KeptEvent, tried: Set<number>): boolean =>
    patterns.some((pattern, index) => {
      if (tried.has(index) || !isOfPattern(event, pattern)) return false;
      tried.add(index);
      const before = takenBy.get(index);
      if (before && !place(before, tried)) return false;
      takenBy.set(index, event);
      return true;
    });
  for (const event of events) if (takenBy.size < patterns.length) place(event, new Set());
  return {
    events: new Set([...takenBy.values()].map(({ id }) => id)),
    missing: patterns.filter((_, index) => !takenBy.has(index)),
  };
}
