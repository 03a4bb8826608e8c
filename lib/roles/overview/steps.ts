import { definitionPath, stepOfUndo } from '#core/data/ids';
import { isObject, type Json, type JsonObject } from '#core/data/json';
import { workflowRef } from '#core/definition/workflow-ref';
import type { Clock } from '#ports/clock';
import { collections, type Documents } from '#ports/documents';
import { countedMax } from '#ports/order-figures';
import type { StateHead } from '#ports/records';
import type { Store } from '#ports/store';

/** The orders of one version of a workflow that are not finished. */
export interface VersionCounts {
  /** Unfinished orders in all states. */
  live: number;
  /** The number of orders at work at each step, by its path without turns of loops. An order counts at the step of its next deadline. */
  running: { [path: string]: number };
  /** The number of blocked orders, by the path of what failed. */
  blocked: { [path: string]: number };
}

/** The orders that are not finished, by version and step, at one time. */
export interface StepCounts {
  /** Milliseconds since 1970. */
  readonly asOf: number;
  /** The counts by `name@version`. */
  readonly versions: { readonly [ref: string]: VersionCounts };
  /** The oldest unfinished orders. */
  readonly oldest: readonly Aged[];
}

interface Aged {
  readonly orderId: string;
  readonly submittedAt: number;
}

/** Counts orders one by one. */
interface StepCounter {
  saw(head: StateHead): void;
  counts(asOf: number): StepCounts;
}

const oldestKept = 10;

/** Creates a counter for a sweep. If a sweep is interrupted, the next one continues its counts. */
export function createStepGathering() {
  let counter = createStepCounter();
  return {
    begin(before: Json | undefined): void {
      counter = createStepCounter(isObject(before) ? (before as unknown as StepCounts) : undefined);
    },
    gathered: (): Json => counter.counts(0) as unknown as Json,
    saw: (head: StateHead): void => counter.saw(head),
    counts: (asOf: number): StepCounts => counter.counts(asOf),
  };
}

/** Creates a counter that begins at zero, or at what an interrupted sweep has counted. */
function createStepCounter(before?: StepCounts): StepCounter {
  const versions: { [ref: string]: VersionCounts } = before ? structuredClone(before.versions) : {};
  let oldest: readonly Aged[] = before?.oldest ?? [];
  return {
    saw(head) {
      const { processState, workflow, orderId, submittedAt } = head;
      if (processState === 'Processed') return;
      const counts = (versions[workflowRef(workflow)] ??= { live: 0, running: {}, blocked: {} });
      counts.live += 1;
      const place = placeOf(head);
      if (place) {
        const paths = processState === 'Error' ? counts.blocked : counts.running;
        paths[place] = (paths[place] ?? 0) + 1;
      }
      const last = oldest.at(-1);
      if (oldest.length < oldestKept || (last && submittedAt < last.submittedAt))
        oldest = [...oldest, { orderId, submittedAt }].toSorted((one, other) => one.submittedAt - other.submittedAt).slice(0, oldestKept);
    },
    counts: (asOf) => ({ asOf, versions, oldest }),
  };
}

/** Returns the path in the definition at which an order works or is blocked; undefined if its head does not tell. */
function placeOf({ processState, fault, nextDueFor }: StateHead): string | undefined {
  const path = processState === 'Error' ? fault?.source : nextDueFor?.path;
  if (path === undefined) return undefined;
  return definitionPath(stepOfUndo(path));
}

const id = 'STEPS';

/** Returns the counts of the last complete sweep; undefined before the first one. */
export async function stepCounts(store: Pick<Documents, 'document'>): Promise<StepCounts | undefined> {
  const found = await store.document(collections.overview, id);
  return found && (found.content as unknown as StepCounts);
}

export async function keepStepCounts(counts: StepCounts, store: Pick<Documents, 'document' | 'putDocument'>): Promise<void> {
  const rev = (await store.document(collections.overview, id))?.rev ?? 0;
  // If another sweep was faster, its counts are as new.
  await store.putDocument({ collection: collections.overview, id, rev: rev + 1, content: counts as unknown as JsonObject }, rev);
}

/** Creates a function that returns the orders of each step. It uses a count again for a moment, because consoles poll. */
export function createCurrentSteps({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
}): () => Promise<StepCounts> {
  const freshMs = store.unfinished ? 500 : 15_000;
  let known: { readonly at: number; readonly counts: Promise<StepCounts> } | undefined;
  return () => {
    const now = clock.now();
    if (known && now - known.at < freshMs && known.at <= now) return known.counts;
    const counts = currentSteps(store, now);
    known = { at: now, counts };
    counts.catch(() => {
      known = undefined;
    });
    return counts;
  };
}

/**
 * Returns the orders that are not finished, by version and step. If the store can find them, they are counted now. Otherwise the counts
 * are those of the last sweep, and only orders in Error are counted now.
 */
async function currentSteps(store: Pick<Store, 'unfinished' | 'list' | 'document'>, now: number): Promise<StepCounts> {
  const counter = createStepCounter();
  if (store.unfinished) {
    for (const head of await store.unfinished(countedMax)) counter.saw(head);
    return counter.counts(now);
  }
  let looked = 0;
  let after: Parameters<Store['list']>[1];
  do {
    const { items, next } = await store.list({ state: 'Error' }, after, 100);
    for (const { state } of items) counter.saw(state);
    looked += items.length;
    after = next;
  } while (after && looked < countedMax);
  const swept = await stepCounts(store);
  const blocked = counter.counts(now).versions;
  const refs = new Set([...Object.keys(blocked), ...Object.keys(swept?.versions ?? {})]);
  const versions = [...refs].map((ref): [string, VersionCounts] => {
    const then = swept?.versions[ref] ?? { live: 0, running: {}, blocked: {} };
    const inErrorThen = Object.values(then.blocked).reduce((sum, count) => sum + count, 0);
    const error = blocked[ref] ?? { live: 0, running: {}, blocked: {} };
    return [ref, { live: then.live - inErrorThen + error.live, running: then.running, blocked: error.blocked }];
  });
  return { asOf: swept?.asOf ?? now, versions: Object.fromEntries(versions), oldest: swept?.oldest ?? [] };
}
