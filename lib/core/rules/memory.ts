import type { Json } from '#core/data/json';
import { fingerprint } from '#core/definition/fingerprint';
import type { RuleEvent, RuleFact } from './situation.ts';

/** The rules' memory of one order: an empty object for an order that no rule was about. It is plain JSON in the order's state. */
export interface RuleMemory {
  /** Events that may complete a list of events, by their own times, the oldest first. */
  readonly kept?: readonly KeptEvent[];
  /** Decisions that are not taken again, the oldest first: an age of the order, a late step, a *would have*. */
  readonly ages?: readonly string[];
  readonly late?: readonly string[];
  readonly wouldHave?: readonly string[];
  /** The number of times that a rule has acted, by rule and fingerprint, or kind of an event without a fingerprint. */
  readonly acted?: { readonly [key: string]: number };
  /** Constraints whose condition was true (a violation), or could not be evaluated, after the last write. */
  readonly holds?: { readonly [key: string]: 'true' | 'failed' };
}

/** An event as it is kept, with the rules for which it has counted. */
export type KeptEvent = Pick<RuleEvent, 'id' | 'kind' | 'at' | 'type' | 'class' | 'step' | 'agent' | 'seconds'> & {
  readonly used?: readonly string[];
};

/** The most kept events, the most keys of each list of notes, and the most keys of `acted`, for one order. */
export const memoryLimits = { keptMax: 32, notedMax: 256, actedMax: 64 } as const;

/** Returns a short key: 53 bits of a hash. */
export const keyOf = (...parts: readonly Json[]): string => fingerprint(parts);

/** Keeps an event, once. If there are too many, the oldest by their own times are forgotten, and a fact says so. */
export function keep(memory: RuleMemory, event: RuleEvent): { readonly memory: RuleMemory; readonly facts: readonly RuleFact[] } {
  const { kept = [] } = memory;
  const known = kept.find(({ id }) => id === event.id);
  if (known && known.seconds === event.seconds) return { memory, facts: [] };
  const others = kept.filter((each) => each !== known);
  // An order that has become older is the same event at a later time.
  const all = [...others, { ...keptForm(event), ...(known?.used ? { used: known.used } : {}) }].toSorted(
    (a, b) => a.at - b.at || (a.id < b.id ? -1 : 1),
  );
  const forgotten = all.slice(0, Math.max(0, all.length - memoryLimits.keptMax));
  return {
    memory: { ...memory, kept: all.slice(forgotten.length) },
    facts: forgotten.map(({ id, kind, at }) => ({ type: 'RuleEventForgotten', eventId: id, kind, at })),
  };
}

const keptForm = ({ id, kind, at, type, class: faultClass, step, agent, seconds }: RuleEvent): KeptEvent => ({
  id,
  kind,
  at,
  ...(type === undefined ? {} : { type }),
  ...(faultClass === undefined ? {} : { class: faultClass }),
  ...(step === undefined ? {} : { step }),
  ...(agent === undefined ? {} : { agent }),
  ...(seconds === undefined ? {} : { seconds }),
});

/** Marks events as counted for a rule. */
export const use = (memory: RuleMemory, events: ReadonlySet<string>, rule: string): RuleMemory => ({
  ...memory,
  kept: (memory.kept ?? []).map((each) => (events.has(each.id) ? { ...each, used: [...(each.used ?? []), rule] } : each)),
});

type Notes = 'ages' | 'late' | 'wouldHave';

export const isNoted = (memory: RuleMemory, list: Notes, key: string): boolean => memory[list]?.includes(key) ?? false;

/** Notes a key in a list. The oldest keys are forgotten, so the decision of such a key may be taken once more. */
export const note = (memory: RuleMemory, list: Notes, key: string): RuleMemory => ({
  ...memory,
  [list]: [...(memory[list] ?? []), key].slice(-memoryLimits.notedMax),
});

/** Returns how often a rule has acted. If the memory has no room for a new key, the answer is infinity, so that the rule acts no more. */
export function timesActed({ acted = {} }: RuleMemory, key: string): number {
  const times = acted[key];
  if (times !== undefined) return times;
  return Object.keys(acted).length < memoryLimits.actedMax ? 0 : Number.POSITIVE_INFINITY;
}

export const countAction = (memory: RuleMemory, key: string): RuleMemory => ({
  ...memory,
  acted: { ...memory.acted, [key]: (memory.acted?.[key] ?? 0) + 1 },
});

/** Notes the value of a constraint. Undefined stands for false and removes the entry. */
export function noteConstraint(memory: RuleMemory, key: string, value: 'true' | 'failed' | undefined): RuleMemory {
  if (memory.holds?.[key] === value) return memory;
  const { [key]: _, ...others } = memory.holds ?? {};
  return { ...memory, holds: value === undefined ? others : { ...others, [key]: value } };
}
