import { isDeepStrictEqual } from 'node:util';
import { engineFault } from '#core/data/fault';
import type { Fact } from '#core/data/journal';
import { initialState } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import { rebuiltState } from '#core/engine/rebuild';
import { type StateRecord, subjectOf } from '#ports/records';
import type { Page } from '#ports/store';
import { type Instance, type JournalEntry, journal, type SalvagedTail, type StoredEntry, salvagedTail } from '#roles/scheduler/instance';
import { storedJournal } from '#roles/scheduler/step-report';
import type { Loaded } from '#roles/scheduler/types';

/**
 * Returns the journal of an order whose instance cannot be read: its pages, and the readable entries of the tail. `last`: the number of the
 * newest line, if the instance still tells it.
 */
export function salvagedJournal(
  { blob }: Pick<StateRecord, 'blob'>,
  pages: readonly Page[],
): { readonly entries: readonly StoredEntry[]; readonly whole: boolean; readonly last: number | undefined } {
  const paged = storedJournal(pages, []);
  const tail = salvagedTail(blob);
  const first = numberOfFirst(tail, paged);
  const entries = storedJournal(
    [paged as unknown as Page],
    tail.entries.map((entry, index): StoredEntry => ({ ...entry, seq: first + index })),
  );
  return { entries, whole: tail.whole && entries.every(({ seq }, index) => seq === index + 1), last: tail.seq };
}

/**
 * Returns the number of the tail's first entry. If the end of the tail is lost, the number follows from the pages. A page may already
 * contain that entry.
 */
function numberOfFirst({ seq, entries: [first, ...others] }: SalvagedTail, paged: readonly JournalEntry[]): number {
  if (seq !== undefined) return first ? seq - others.length : seq + 1;
  const repeated = paged.find(({ seq: _, ...entry }) => isDeepStrictEqual(entry, first));
  return repeated?.seq ?? (paged.at(-1)?.seq ?? 0) + 1;
}

/**
 * Rebuilds an unreadable instance from the journal: blocked, with everything that may have to be undone, or not begun if nobody has claimed
 * the order. `problems` contains the reasons why the rebuilt instance must not be used to undo the order; it is empty if there are none.
 */
export function rebuild(
  { program, order, record }: Omit<Loaded, 'instance'>,
  pages: readonly Page[],
  now: number,
): { readonly instance: Instance; readonly problems: readonly string[] } {
  const { entries, whole } = salvagedJournal(record, pages);
  const { stepMs, updatedAt, fault } = record;
  // An order that was never claimed has sent no requests.
  const isNew = record.epoch === 0;
  const { state, problems } = isNew
    ? { state: initialState, problems: [] }
    : rebuiltState(program, subjectOf(order), entries as readonly Fact[], {
        isWhole: whole,
        resubmitted: isResubmitted(record, entries),
        stepMs,
        lastAt: updatedAt,
      });
  const gap = entries.find(({ seq }, index) => seq !== index + 1);
  const holes = gap
    ? [
        `The journal has a gap before line ${gap.seq}: it is unknown what was done until then. Search the records of the services for keys that begin with "${order.orderId}/".`,
      ]
    : [];
  const blocked = {
    path: rootPath,
    fault: engineFault(fault?.type ?? unreadable, fault?.message ?? 'The record of the order is damaged.'),
    at: now,
  };
  const known: Instance = {
    state: isNew
      ? state
      : {
          ...state,
          phase: 'blocked',
          blocked,
          ...(order.caller ? { called: true } : {}),
          ...(isCompensatedByCaller(entries) ? { compensatedByCaller: true } : {}),
        },
    tail: [],
    seq: entries.at(-1)?.seq ?? 0,
    lastRequested: [],
  };
  const tail = entries.filter(({ seq }) => !pages.flat().some((each) => each.seq === seq));
  return { instance: journal({ ...known, tail }, [{ type: 'InstanceRebuilt', whole }], now), problems: [...holes, ...problems] };
}

/** Whether the order is being undone for its caller: its journal tells of an end, and a finished order is never rebuilt. */
const isCompensatedByCaller = (entries: readonly JournalEntry[]): boolean => entries.some(({ type }) => type === 'OrderProcessed');

/**
 * Whether the order left Error more often than the journal has instructions that may take an order out of Error. Then requests with unknown
 * keys may exist.
 */
function isResubmitted({ errorGen, processState, notes }: StateRecord, entries: readonly JournalEntry[]): boolean {
  const stayed = notes.filter((note) => note.type === 'RecordUnreadable' && note.before === 'Error').length;
  const left = errorGen - stayed - (processState === 'Error' ? 1 : 0);
  return left > entries.filter((fact) => fact.type === 'InstructionGiven' && fact.kind !== 'suspend' && fact.kind !== 'resume').length;
}

const unreadable = 'RecordUnreadable';
