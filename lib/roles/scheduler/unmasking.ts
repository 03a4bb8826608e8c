import type { Program } from '#core/definition/program';
import type { Inconsistency } from '#roles/recovery/inconsistencies';
import { isUndoneAfter } from '#roles/recovery/writes-of';
import type { Draft } from './draft.ts';
import { inconsistencyReport, isRaised, notesOf } from './inconsistency-report.ts';
import type { JournalEntry } from './instance.ts';
import { faultOf, recorded } from './recorded-reports.ts';
import { wholeJournal } from './step-report.ts';

type Masked = Extract<JournalEntry, { type: 'InconsistencyFound' }>;

/** Asks for the journal when an order ends after a recovery has masked an undone write: the journal has what was masked. */
export const needsMasked = (draft: Draft): Draft =>
  draft.needs === undefined && endsWithMasked(draft) && !draft.loaded.pages ? { ...draft, needs: 'journal' } : draft;

const endsWithMasked = ({ instance }: Draft): boolean => instance.hasMasked === true && instance.state.phase === 'closed';

/**
 * Raises each inconsistency that a recovery has masked and that is still true at the end of the order (F-149): the step that read the
 * undone write is not undone. Such a step needs no undo, or a person has ended the order before its undo.
 */
export function raiseMasked(draft: Draft): Draft {
  if (!endsWithMasked(draft)) return draft;
  const { loaded } = draft;
  const { hasMasked: _, ...instance } = draft.instance;
  const journal = wholeJournal(loaded.pages ?? [], instance.tail);
  const ids = new Set(journal.flatMap((entry) => (entry.type === 'InconsistencyFound' && entry.masked ? [entry.id] : [])));
  return [...ids].reduce<Draft>(
    (each, id) => {
      const notes = notesOf(id, journal);
      const uses = notes.flatMap((entry) => standingIn(entry, journal, loaded.program));
      const last = notes.findLast(({ masked }) => masked);
      return uses.length === 0 || notes.some(isRaised) || !last ? each : raised(each, last, { ...last.masked, uses });
    },
    { ...draft, instance },
  );
}

/** Returns the uses of a masked line that are still true. */
const standingIn = ({ masked, seq }: Masked, journal: readonly JournalEntry[], program: Program): Inconsistency['uses'] =>
  (masked?.uses ?? []).filter(({ path }) => {
    // A step that was done again has read the object again, so its last line counts. A later attempt without success adds no line.
    const last = journal.findLast((line) => line.type === 'ObjectsUsed' && line.path === path);
    return last !== undefined && last.seq <= seq && !isUndoneAfter(program, journal, last, path);
  });

function raised(draft: Draft, { cause }: Masked, about: NonNullable<Masked['masked']>): Draft {
  const report = inconsistencyReport({ cause, ...about });
  const seq = (draft.record.causes ?? 0) + 1;
  return { ...recorded(draft, faultOf(report), report.causedBy, report.by), raised: [...(draft.raised ?? []), seq] };
}
