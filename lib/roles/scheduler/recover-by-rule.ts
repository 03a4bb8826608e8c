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

/** The effect of a recovery by a rule: an event, or the reason against it. */
type Recovery = { readonly event: EventContent } | { readonly refusal: string };

const isOfOrder = ({ path }: RecoverAction): boolean => path === undefined || path === rootPath;

/** Whether an action reads what the journal says, and the journal has not been read yet. */
export const needsJournal = ({ loaded }: Draft, action: DecidedAction): boolean =>
  action.kind === 'recover' && !isOfOrder(action) && !loaded.pages;

/** Returns the effect of a rule that recovers an order. The recovery is checked like one by a person. See `needsJournal` first. */
export function recoveryOf(draft: Draft, action: RecoverAction): Recovery {
  const { loaded, instance, record, now } = draft;
  const facts = isOfOrder(action) ? [] : wholeJournal(loaded.pages ?? [], instance.tail);
  const past = pastOf(loaded.program, subjectOf(loaded.order), facts);
  return ruledRecovery(judgedOf({ ...loaded, record, instance }, { schemas: noSchemas, now, past }), action.path);
}

/** A recovery has no values, so no schema is asked. */
const noSchemas = { of: () => undefined, problems: () => [] };
