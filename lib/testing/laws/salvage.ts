import type { JournalEntry } from '#roles/scheduler/instance';
import { wholeJournal } from '#roles/scheduler/step-report';
import type { Tracked } from '#testing/world/history';
import { type Law, on, writerOf } from './law.ts';

/** What of a journal must still be there after its record was damaged. */
interface Readable {
  /** All that there were, by number, as text. */
  readonly lines: ReadonlyMap<number, string>;
  /** Up to this one they can be read. */
  readonly last: number;
  /** Whether these are all. */
  readonly whole: boolean;
  /** Whether somebody has written since without reading it: who had read it before is fenced off. */
  readonly isFenced: boolean;
  /** Whether they have been made into a new record. */
  readonly isRebuilt: boolean;
  /** Whether it was begun, and whether the order that called it takes it back. */
  readonly isBegun: boolean;
  readonly isRecalled: boolean;
}

/** whatever can still be read of a damaged record is kept, line by line; and whether that is all is said as it is. */
export function salvage(): Law {
  const damaged = new Map<string, Readable>();
  return {
    name: 'salvage',
    after: on(['damaged', 'written'], (observation, history) => {
      if (observation.type === 'damaged') {
        const order = history.orders.get(observation.orderId);
        // What was made anew once is no more than what was left of it then.
        if (order?.damagedAt === undefined && order) damaged.set(order.orderId, readableIn(order, observation.at));
        else damaged.delete(observation.orderId);
      }
      if (observation.type !== 'written') return undefined;
      const { orderId } = observation.after;
      const [order, readable] = [history.orders.get(orderId), damaged.get(orderId)];
      if (!order || !readable || readable.isRebuilt) return undefined;
      // Who had read it before writes the same once more, where only what was sent is another: then nothing is damaged any more.
      const isSame = observation.before?.blob === observation.after.blob;
      if (isSame && !readable.isFenced && writerOf(observation.after) !== undefined) return void damaged.delete(orderId);
      if (isSame) return void damaged.set(orderId, { ...readable, isFenced: true });
      damaged.set(orderId, { ...readable, isRebuilt: true });
      return wrongIn(order, readable);
    }),
    atEnd: (history) =>
      [...damaged].flatMap(([orderId, { lines, last, isRebuilt }]) => {
        const order = history.orders.get(orderId);
        if (!order || !isRebuilt) return [];
        const kept = new Set(wholeJournal(history.pages.get(orderId) ?? [], order.instance.tail).map(textOf));
        const missing = [...lines].find(([seq, line]) => seq <= last && !kept.has(line));
        return missing === undefined ? [] : [`${orderId} was damaged, and has lost ${missing[1]}, which could be read`];
      }),
  };
}

function wrongIn(
  { orderId, caller, instance: { tail, state } }: Tracked,
  { lines, last, whole, isFenced, isBegun, isRecalled }: Readable,
): string | undefined {
  const rebuilt = tail.find((entry) => entry.type === 'InstanceRebuilt');
  // Written whole by somebody who had read it before.
  if (!rebuilt) return isFenced ? `${orderId} was damaged, and goes on as if it had not been` : undefined;
  if (rebuilt.whole !== whole) return `${orderId} is rebuilt of ${rebuilt.whole ? 'all' : 'a part'} of its journal, which is not so`;
  const other = tail.find((line) => line.seq < rebuilt.seq && lines.get(line.seq) !== textOf(line));
  if (whole && isBegun && (state.called === true) !== (caller !== undefined)) return `${orderId} forgets who called it`;
  if (whole && (state.compensatedByCaller === true) !== isRecalled)
    return `${orderId} is rebuilt as if it were ${isRecalled ? 'not ' : ''}taken back`;
  if (other) return `${orderId} is rebuilt with ${JSON.stringify(other)} instead of ${lines.get(other.seq)}`;
  // A page may know more, where nobody came to write what was put aside.
  return rebuilt.seq > last && rebuilt.seq <= lines.size + 1
    ? undefined
    : `${orderId} could be read to line ${last}, and goes on with line ${rebuilt.seq}`;
}

/** In whatever order its fields stand. */
const textOf = (line: JournalEntry): string => JSON.stringify(Object.entries(line).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** The journal stands first in the blob: what comes before the damage can be read, entry by entry. */
function readableIn({ state: { blob, epoch }, instance, journal }: Tracked, at: number): Readable {
  const begin = blob.indexOf('[') + 1;
  const { tail } = JSON.parse(blob) as { readonly tail: readonly object[] };
  let end = begin;
  let entries = 0;
  for (const entry of tail) {
    const from = entries === 0 ? begin : end + 1;
    const to = from + JSON.stringify(entry).length;
    if (at < begin || at < to || (entries > 0 && at === end)) break;
    end = to;
    entries += 1;
  }
  const whole = at > end && entries === tail.length && at >= begin;
  const last = instance.seq - tail.length + entries;
  const lines = new Map(journal.map((line) => [line.seq, textOf(line)] as const));
  const was = { isBegun: epoch > 0, isRecalled: instance.state.compensatedByCaller === true };
  return { lines, last, whole, isFenced: false, isRebuilt: false, ...was };
}
