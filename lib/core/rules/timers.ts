import { isOfObject } from './match.ts';
import { isNoted, keyOf, type RuleMemory } from './memory.ts';
import type { RuleObject } from './rule.ts';
import { type RuleSet, rulesAbout } from './rule-set.ts';

/** An order that grows older, or a step that grows late. */
export interface Timed {
  readonly kind: 'order-age' | 'step-late';
  readonly orderId: string;
  readonly workflow: string;
  /** The id of the event, which `decide` will get. */
  readonly eventId: string;
  /** Submission of the order, or `completeBy` of the step, in milliseconds since 1970. */
  readonly from: number;
  readonly step?: string;
  readonly agent?: string;
}

/**
 * Returns the time at which the next rule is to be asked about an age or a lateness; undefined if none is left. A time in the past means
 * now. The call costs nothing if no rule is about such an event.
 */
export function nextRuleTime(set: RuleSet, timed: Timed, memory: RuleMemory = {}): number | undefined {
  const list = timed.kind === 'order-age' ? 'ages' : 'late';
  const times = rulesAbout(set, timed.kind, timed.workflow).flatMap(({ rule, patterns }) => {
    if (!isOrder(timed, rule.object) || !isOfObject(timed, rule)) return [];
    if (isNoted(memory, list, keyOf(rule.id, rule.version, timed.eventId))) return [];
    const seconds = patterns.filter(({ kind }) => kind === timed.kind).map(({ afterSeconds = 0 }) => afterSeconds);
    return [timed.from + Math.min(...seconds) * 1000];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}

const isOrder = ({ orderId }: Timed, object: RuleObject = {}): boolean => object.orderId === undefined || object.orderId === orderId;

const keys = new WeakMap<RuleSet, Map<string, string | undefined>>();

/** Returns a short key of the rules about the ages and the late steps of a workflow's orders; undefined if there are none. */
export function timedKey(set: RuleSet, workflow: string): string | undefined {
  const known = keys.get(set) ?? new Map<string, string | undefined>();
  keys.set(set, known);
  if (!known.has(workflow)) {
    const timed = [...rulesAbout(set, 'order-age', workflow), ...rulesAbout(set, 'step-late', workflow)];
    known.set(workflow, timed.length === 0 ? undefined : keyOf(...timed.map(({ rule }) => [rule.id, rule.version])));
  }
  return known.get(workflow);
}
