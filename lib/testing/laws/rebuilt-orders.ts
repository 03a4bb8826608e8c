import type { StoredEntry } from '#roles/scheduler/instance';
import { shownLine } from '#roles/scheduler/recorded-events';
import { wholeJournal } from '#roles/scheduler/step-report';
import type { Tracked } from '#testing/world/history';
import { type Law, on, writerOf } from './law.ts';

/** The journal lines that must survive the damage of a record. */
interface Readable {
  /** All lines that the journal had when the record was damaged, as text by number. Those after `last` are lost. */
  readonly lines: ReadonlyMap<number, string>;
  /** Number of the last readable line. */
  readonly last: number;
  /** Whether all lines are readable. */
  readonly whole: boolean;
  /** Whether a process wrote the record after the damage without decoding it. The write of a process that read it earlier is then refused. */
  readonly isFenced: boolean;
  /** Whether the record was rebuilt. */
  readonly isRebuilt: boolean;
  /** Whether the order was ever claimed. */
  readonly isBegun: boolean;
  /** Whether the caller of the order compensates it. */
  readonly isCompensatedByCaller: boolean;
  /** Whether an earlier rebuild lost events, so that the order can only be undone or ended. */
  readonly wasInexact: boolean;
}

/**
 * A rebuilt order keeps each readable journal line, and records correctly whether lines were lost. It continues only if no
 * line was lost (F-160).
 */
export function rebuiltOrders(): Law {
  const damaged = new Map<string, Readable>();
  return {
    name: 'rebuilt orders',
    after: on(['damaged', 'written'], (observation, history) => {
      if (observation.type === 'damaged') {
        const order = history.orders.get(observation.orderId);
        // A record that is damaged twice is not followed: the lines that the first damage left are not known here.
        if (order?.damagedAt === undefined && order) damaged.set(order.orderId, readableIn(order, observation.at));
        else damaged.delete(observation.orderId);
      }
      if (observation.type !== 'written') return undefined;
      const { orderId } = observation.after;
      const [order, readable] = [history.orders.get(orderId), damaged.get(orderId)];
      if (!order || !readable || readable.isRebuilt) return undefined;
      // A process that had read the record before the damage writes the same state again, which repairs it.
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
        return missing === undefined ? [] : [`order ${orderId}: the readable journal line ${missing[1]} was lost after the damage`];
      }),
  };
}

function wrongIn(
  { orderId, caller, instance: { tail, state } }: Tracked,
  { lines, last, whole, isFenced, isBegun, isCompensatedByCaller, wasInexact }: Readable,
): string | undefined {
  const rebuilt = tail.find((entry) => entry.type === 'InstanceRebuilt');
  // A process that had read the record before the damage wrote it whole.
  if (!rebuilt) return isFenced ? `order ${orderId} was damaged but continued without a rebuild` : undefined;
  if (rebuilt.whole !== whole)
    return `order ${orderId}: the rebuild recorded ${rebuilt.whole ? 'a whole' : 'an incomplete'} journal, which is wrong`;
  // A rebuild must be exact if the journal is whole and no earlier rebuild was inexact.
  const isExact = rebuilt.exact === true;
  if (isExact !== (whole && !wasInexact))
    return `order ${orderId} was rebuilt ${isExact ? '' : 'in'}exactly, expected ${isExact ? 'in' : ''}exactly: its journal is ${whole ? 'whole' : 'incomplete'}, and an earlier rebuild was ${wasInexact ? 'inexact' : 'exact or none'}`;
  const other = tail.find((line) => line.seq < rebuilt.seq && lines.get(line.seq) !== textOf(line));
  if (whole && isBegun && (state.called === true) !== (caller !== undefined))
    return `order ${orderId}: the rebuilt state has called ${state.called === true}, expected ${caller !== undefined}`;
  if (whole && (state.compensatedByCaller === true) !== isCompensatedByCaller)
    return `order ${orderId}: the rebuilt state has compensatedByCaller ${state.compensatedByCaller}, expected ${isCompensatedByCaller}`;
  if (other) return `order ${orderId}: the rebuild has the line ${JSON.stringify(other)}, expected ${lines.get(other.seq)}`;
  // The rebuild may find more lines than the record had: a page can be stored whose write then failed.
  return rebuilt.seq > last && rebuilt.seq <= lines.size + 1
    ? undefined
    : `order ${orderId} was readable to line ${last}, but the rebuild continued with line ${rebuilt.seq}`;
}

/** Returns the line as it is shown, as text with sorted fields. */
const textOf = (line: StoredEntry): string =>
  JSON.stringify(Object.entries(shownLine(line)).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** Returns the readable lines. The journal stands first in the blob, so all entries before the damage are readable. */
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
  const wasInexact = journal.some((line) => line.type === 'InstanceRebuilt' && line.exact !== true);
  const before = { isBegun: epoch > 0, isCompensatedByCaller: instance.state.compensatedByCaller === true, wasInexact };
  return { lines, last, whole, isFenced: false, isRebuilt: false, ...before };
}
