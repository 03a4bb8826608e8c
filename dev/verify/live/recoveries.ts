import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { decodeInstance, type JournalEntry } from '#roles/scheduler/instance';
import { wholeJournal } from '#roles/scheduler/step-report';

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

/** The time until work that was lost with its host was requested again, by the journals: milliseconds, rising. */
export interface Recoveries {
  /**
   * For each step that a kill interrupted, the time until its next request or its reply, whichever came first. Time without any
   * host does not count.
   *
   * The journal entry `DeadlineExpired` is the discovery of the loss. If a second kill came between the discovery and the next
   * request or reply, the longer of two times counts: from the first kill to the discovery, or from the second kill to that request
   * or reply.
   */
  readonly times: readonly number[];
  /** The whole times from the first kill to the next request or reply: time without any host counts, and second kills do not matter. */
  readonly wholeTimes: readonly number[];
  /** The number of recoveries with a second kill between the discovery and the next request or reply. */
  readonly killedAgain: number;
  /** Steps that expired although no host was killed meanwhile. */
  readonly withoutKill: number;
}

type Span = readonly [from: number, to: number];

/** `kills`: when hosts were killed, milliseconds since 1970, rising. `unattended`: when no host ran. */
export function recoveriesIn(courses: readonly Course[], kills: readonly number[], unattended: readonly Span[]): Recoveries {
  const [times, wholeTimes]: [number[], number[]] = [[], []];
  let [killedAgain, withoutKill] = [0, 0];
  const attended = (from: number, to: number): number => to - from - overlap([from, to], unattended);
  for (const { journal } of courses) {
    const requested = new Map<string, number>();
    const interrupted = new Map<string, { readonly killed: number; readonly discovered: number }>();
    for (const entry of journal) {
      if (!('path' in entry) || entry.path === undefined) continue;
      const { path, at } = entry;
      const lost = interrupted.get(path);
      if (entry.type === 'DeadlineExpired') {
        // The first kill after the request may have caused the expiry.
        const killed = firstWithin(kills, requested.get(path) ?? Infinity, at);
        if (killed === undefined) withoutKill += 1;
        else if (!lost) interrupted.set(path, { killed, discovered: at });
        continue;
      }
      if (lost) {
        const second = firstWithin(kills, lost.discovered, at);
        times.push(
          second === undefined ? attended(lost.killed, at) : Math.max(attended(lost.killed, lost.discovered), attended(second, at)),
        );
        wholeTimes.push(at - lost.killed);
        if (second !== undefined) killedAgain += 1;
      }
      interrupted.delete(path);
      if (entry.type === 'StepRequested') requested.set(path, at);
    }
  }
  return { times: rising(times), wholeTimes: rising(wholeTimes), killedAgain, withoutKill };
}

const rising = (times: readonly number[]): readonly number[] => times.toSorted((a, b) => a - b);

const firstWithin = (moments: readonly number[], from: number, to: number): number | undefined =>
  moments.find((at) => from <= at && at <= to);

const overlap = ([from, to]: Span, spans: readonly Span[]): number =>
  spans.reduce((sum, [begin, end]) => sum + Math.max(0, Math.min(to, end) - Math.max(from, begin)), 0);

/** Counts the orders that were running at each of these moments: begun, not finished and not in Error. */
export function atWorkAt(courses: readonly Course[], moments: readonly number[]): readonly number[] {
  const spans = courses.flatMap(({ journal }) => spansOf(journal));
  return moments.map((at) => spans.filter(([from, to]) => from <= at && at < to).length);
}

function spansOf(journal: readonly JournalEntry[]): readonly (readonly [number, number])[] {
  const spans: [number, number][] = [];
  let from: number | undefined;
  for (const { type, at } of journal) {
    const ends = type === 'OrderProcessed' || type === 'OrderBlocked' || type === 'ThresholdExceeded';
    if (ends && from !== undefined) spans.push([from, at]);
    if (ends) from = undefined;
    else from ??= at;
  }
  return from === undefined ? spans : [...spans, [from, Infinity]];
}

/** The value that this share of the sorted values does not exceed. */
export const quantile = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
