import type { EventContent } from '#core/data/event';
import { rootPath } from '#core/definition/definition';
import { pastOf } from '#core/instructions/past';
import { ruledRecovery } from '#core/instructions/recover';
import type { DecidedAction } from '#core/rules/situation';
import { subjectOf } from '#ports/records';
import { judgedOf } from '#roles/operator/feasibility';
import type { Draft } from './draft.ts';
import { wholeJournal } from './step-report.ts';

type RecoverAction = Extract<DecidedAction, { kind: 'recover' }>;

/** What a recovery by a rule does to an order: an event, or the reason against it. It may need the journal first. */
type Recovery = { readonly event: EventContent } | { readonly refusal: string } | { readonly needs: 'journal' };

/** Returns what a rule does that recovers an order. It is checked as the instruction of a person is. */
export function recoveryOf(draft: Draft, { path }: RecoverAction): Recovery {
  const { loaded, instance, record, now } = draft;
  const isWhole = path === undefined || path === rootPath;
  if (!isWhole && !loaded.pages) return { needs: 'journal' };
  const facts = isWhole ? [] : wholeJournal(loaded.pages ?? [], instance.tail);
  const past = pastOf(loaded.program, subjectOf(loaded.order), facts);
  return ruledRecovery(judgedOf({ ...loaded, record, instance }, { schemas: noSchemas, now, past }), path);
}

/** A recovery has no values, so no schema is asked. */
const noSchemas = { of: () => undefined, problems: () => [] };
