import { decodeInstance, type JournalEntry } from '../../lib/instance.ts';
import type { StateRecord } from '../../lib/record.ts';
import { wholeJournal } from '../../lib/steps.ts';
import type { Store } from '../../lib/store.ts';

/** An order as it is stored in the end. */
export interface Course {
  readonly state: StateRecord;
  readonly journal: readonly JournalEntry[];
}

export async function coursesOf(store: Pick<Store, 'load' | 'pages'>, orderIds: readonly string[]): Promise<readonly Course[]> {
  const courses: Course[] = [];
  for (const orderId of orderIds) {
    const found = await store.load(orderId);
    if (!found) throw new Error(`The order ${orderId} is not there.`);
    const journal = wholeJournal(await store.pages(orderId), decodeInstance(found.state).tail);
    courses.push({ state: found.state, journal });
  }
  return courses;
}

/** How long it took until work that was lost with its host was asked for again, by the journals. */
export interface Recoveries {
  /** Milliseconds from the kill until it was asked for again, or answered after all, for each step that a kill interrupted. */
  readonly times: readonly number[];
  /** Steps that ran out of time though nobody was killed meanwhile. */
  readonly withoutKill: number;
}

/** `kills`: when hosts were killed, milliseconds since 1970, rising. */
export function recoveriesIn(courses: readonly Course[], kills: readonly number[]): Recoveries {
  const times: number[] = [];
  let withoutKill = 0;
  for (const { journal } of courses) {
    const asked = new Map<string, number>();
    const interrupted = new Map<string, number>();
    for (const entry of journal) {
      if (!('path' in entry) || entry.path === undefined) continue;
      const { path, at } = entry;
      if (entry.type === 'DeadlineExpired') {
        // The first kill since it was asked is the one that may have cost it.
        const killed = kills.find((each) => each >= (asked.get(path) ?? Infinity) && each <= at);
        if (killed === undefined) withoutKill += 1;
        else if (!interrupted.has(path)) interrupted.set(path, killed);
        continue;
      }
      const killed = interrupted.get(path);
      if (killed !== undefined) times.push(at - killed);
      interrupted.delete(path);
      if (entry.type === 'StepAsked') asked.set(path, at);
    }
  }
  return { times: times.toSorted((a, b) => a - b), withoutKill };
}

/** At how many of these moments an order was at work: begun, not finished, and in front of nobody. */
export function atWorkAt(courses: readonly Course[], moments: readonly number[]): readonly number[] {
  const spans = courses.flatMap(({ journal }) => spansOf(journal));
  return moments.map((at) => spans.filter(([from, to]) => from <= at && at < to).length);
}

function spansOf(journal: readonly JournalEntry[]): readonly (readonly [number, number])[] {
  const spans: [number, number][] = [];
  let from: number | undefined;
  for (const { type, at } of journal) {
    const ends = type === 'OrderProcessed' || type === 'OrderHeld' || type === 'ThresholdExceeded';
    if (ends && from !== undefined) spans.push([from, at]);
    if (ends) from = undefined;
    else from ??= at;
  }
  return from === undefined ? spans : [...spans, [from, Infinity]];
}

/** The value that so much of them does not exceed. */
export const quantile = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
