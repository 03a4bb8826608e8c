import { isUndoneAfter } from '#roles/recovery/writes-of';
import type { Draft } from './draft.ts';
import { inconsistencyReport } from './inconsistency-report.ts';
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
  return journal.reduce<Draft>(
    (each, entry) => {
      if (entry.type !== 'InconsistencyFound' || !entry.masked) return each;
      // A step that has run again has read the object again. A later run that came to nothing leaves the one before as it is.
      const uses = entry.masked.uses.filter((use) => {
        const last = journal.findLast((line) => line.type === 'ObjectsUsed' && line.path === use.path);
        return last !== undefined && last.seq <= entry.seq && !isUndoneAfter(loaded.program, journal, last, use.path);
      });
      return uses.length === 0 ? each : raised(each, entry, { ...entry.masked, uses });
    },
    { ...draft, instance },
  );
}

function raised(draft: Draft, { cause }: Masked, about: NonNullable<Masked['masked']>): Draft {
  const report = inconsistencyReport({ cause, ...about });
  const seq = (draft.record.causes ?? 0) + 1;
  return { ...recorded(draft, faultOf(report), report.causedBy, report.by), raised: [...(draft.raised ?? []), seq] };
}
