import { isObject, type JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import { collections, type Document, type Documents } from '#ports/documents';
import { compareAndSet } from '#ports/util/compare-and-set';

/** The figures of a rule. They are approximate: a process that crashes loses the counts of its last ten seconds. */
export interface RuleCounts {
  /** The number of times that its condition was true. */
  readonly hits: number;
  /** The number of times that it acted. */
  readonly acted: number;
  readonly passed: number;
  readonly failedAgain: number;
  /** Milliseconds since 1970. */
  readonly lastHitAt: number | null;
}

export type Counted = Exclude<keyof RuleCounts, 'lastHitAt'>;

const flushMs = 10_000;
const shards = 8;
const none: RuleCounts = { hits: 0, acted: 0, passed: 0, failedAgain: 0, lastHitAt: null };

interface Ports {
  readonly store: Documents;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Counts in this process, and adds the figures to one of eight documents, at most every ten seconds. */
export function createRuleCounter({ store, clock, random }: Ports) {
  let counted = new Map<string, RuleCounts>();
  let flushedAt = clock.now();

  async function flush(): Promise<void> {
    const taken = counted;
    counted = new Map();
    flushedAt = clock.now();
    if (taken.size === 0) return;
    const id = String(Math.floor(random() * shards));
    const written = await compareAndSet(async () => {
      const found = await store.document(collections.ruleCounts, id);
      const before = countsIn(found);
      const sums = [...taken].map(([rule, counts]) => [rule, plus(before[rule] ?? none, counts)] as const);
      const content = { ...before, ...Object.fromEntries(sums) } as unknown as JsonObject;
      const { outcome } = await store.putDocument(
        { collection: collections.ruleCounts, id, rev: (found?.rev ?? 0) + 1, content },
        found?.rev ?? 0,
      );
      return outcome === 'written' ? true : 'lost';
    });
    // After too many lost races, the next flush tries again.
    if (written === 'lost') for (const [rule, counts] of taken) counted.set(rule, plus(counted.get(rule) ?? none, counts));
  }

  return {
    count(ruleId: string, ...what: readonly Counted[]): void {
      const one = {
        ...none,
        ...Object.fromEntries(what.map((each) => [each, 1])),
        ...(what.includes('hits') ? { lastHitAt: clock.now() } : {}),
      };
      counted.set(ruleId, plus(counted.get(ruleId) ?? none, one));
    },
    /** Writes the figures if ten seconds have passed: a function on AWS has no timer of its own. */
    flushIfDue: async (): Promise<void> => {
      if (clock.now() - flushedAt >= flushMs) await flush();
    },
    flush,
  };
}

const plus = (one: RuleCounts, other: RuleCounts): RuleCounts => ({
  hits: one.hits + other.hits,
  acted: one.acted + other.acted,
  passed: one.passed + other.passed,
  failedAgain: one.failedAgain + other.failedAgain,
  lastHitAt: Math.max(one.lastHitAt ?? 0, other.lastHitAt ?? 0) || null,
});

const countsIn = (document: Document | undefined): { readonly [rule: string]: RuleCounts } =>
  isObject(document?.content) ? (document.content as unknown as { readonly [rule: string]: RuleCounts }) : {};

/** Returns the figures of all rules, by id. */
export async function ruleCounts(store: Pick<Documents, 'documents'>): Promise<(ruleId: string) => RuleCounts> {
  const all = (await store.documents(collections.ruleCounts, undefined, shards)).map(countsIn);
  return (ruleId) => all.reduce((sum, each) => plus(sum, each[ruleId] ?? none), none);
}
