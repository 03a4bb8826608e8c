import { isDeepStrictEqual } from 'node:util';
import { engineFault } from '#core/data/fault';
import type { Fact } from '#core/data/journal';
import { initialState } from '#core/data/state';
import { rootPath } from '#core/definition/definition';
import { rebuiltState } from '#core/engine/rebuild';
import { type StateRecord, subjectOf } from '#ports/records';
import type { Page } from '#ports/store';
import { type Instance, type JournalEntry, journal, type SalvagedTail, salvagedTail } from '#roles/scheduler/instance';
import { wholeJournal } from '#roles/scheduler/step-report';
import type { Loaded } from '#roles/scheduler/types';

/** The journal of an order whose instance can't be read: what lies in pages, and of the tail what is left of it. */
export function salvagedJournal(
  { blob }: Pick<StateRecord, 'blob'>,
  pages: readonly Page[],
): { readonly entries: readonly JournalEntry[]; readonly whole: boolean } {
  const paged = wholeJournal(pages, []);
  const tail = salvagedTail(blob);
  const first = numberOfFirst(tail, paged);
  const entries = wholeJournal(
    [paged as unknown as Page],
    tail.entries.map((entry, index): JournalEntry => ({ ...entry, seq: first + index })),
  );
  return { entries, whole: tail.whole && entries.every(({ seq }, index) => seq === index + 1) };
}

/** Where the tail's end is lost, its numbers follow from the pages. The last one may say the same: then nothing was written after it. */
function numberOfFirst({ seq, entries: [first, ...others] }: SalvagedTail, paged: readonly JournalEntry[]): number {
  if (seq !== undefined) return first ? seq - others.length : seq + 1;
  const repeated = paged.find(({ seq: _, ...entry }) => isDeepStrictEqual(entry, first));
  return repeated?.seq ?? (paged.at(-1)?.seq ?? 0) + 1;
}

/**
 * An instance for one that can't be read: held for that, with all that may have to be undone. `problems` says why nothing
 * may be undone by it; it is empty where all can be.
 */
export function rebuild(
  { program, order, record }: Omit<Loaded, 'instance'>,
  pages: readonly Page[],
  now: number,
): { readonly instance: Instance; readonly problems: readonly string[] } {
  const { entries, whole } = salvagedJournal(record, pages);
  const { stepMs, updatedAt, fault } = record;
  // Nobody ever claimed it: nothing was asked.
  const isNew = record.epoch === 0;
  const { state, problems } = isNew
    ? { state: initialState, problems: [] }
    : rebuiltState(program, subjectOf(order), entries as readonly Fact[], {
        whole,
        resubmitted: isResubmitted(record, entries),
        stepMs,
        lastAt: updatedAt,
      });
  const gap = entries.find(({ seq }, index) => seq !== index + 1);
  const holes = gap ? [`What the journal says before its line ${gap.seq} is lost in part: nobody can say what was done by then.`] : [];
  const blocked = {
    path: rootPath,
    fault: engineFault(fault?.type ?? unreadable, fault?.message ?? 'Its record is damaged.'),
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

/** Finished orders are never rebuilt: what was completed before, and is not finished now, is being taken back. */
const isCompensatedByCaller = (entries: readonly JournalEntry[]): boolean => entries.some(({ type }) => type === 'OrderProcessed');

/** It has left Error oftener than the journal says: something may have been asked anew, under keys that nobody knows. */
function isResubmitted({ errorGen, processState, notes }: StateRecord, entries: readonly JournalEntry[]): boolean {
  const stayed = notes.filter((note) => note.type === 'RecordUnreadable' && note.before === 'Error').length;
  const left = errorGen - stayed - (processState === 'Error' ? 1 : 0);
  return left > entries.filter((fact) => fact.type === 'InstructionGiven' && fact.kind !== 'suspend' && fact.kind !== 'resume').length;
}

const unreadable = 'RecordUnreadable';
