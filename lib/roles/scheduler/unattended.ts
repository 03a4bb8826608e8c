import { isQuestion } from '#core/data/fault';
import type { Blocked } from '#core/data/state';
import { unattendedFault } from '#core/exceptions/unattended';
import { announcedAs } from '#ports/records';
import { exceptionFor, isReport, openReportsMax, type TaskWishes } from '#roles/exceptions/causes';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { addFacts, addToOutbox, type Draft } from './draft.ts';
import { type Detected, manage } from './exception-manager.ts';
import { causeOf } from './record-causes.ts';
import { recordDetected, recorded } from './recorded-reports.ts';
import { wholeJournal } from './step-report.ts';
import type { Incoming } from './types.ts';

/**
 * Applies the message that nobody has taken the task of the question for which the order waits (F-177). This is an exception of its own,
 * about which the rules decide. If no rule ends the question, the exception joins the task of the question. A message that comes twice
 * changes nothing.
 */
export function unattended(draft: Draft, { id, seq, why, group }: Extract<Incoming, { type: 'unattended' }>): Draft {
  const { blocked, ending } = draft.instance.state;
  const { orderId } = draft.record;
  if (!blocked || !isAbout(draft, blocked, seq) || isFull(draft)) return draft;
  const { pages } = draft.loaded;
  if (!pages) return { ...draft, needs: 'journal' };
  if (wholeJournal(pages, draft.instance.tail).some((entry) => entry.type === 'TaskUnattended' && entry.id === id)) return draft;
  const fault = unattendedFault(why, group, blocked.path);
  const noted = addFacts(draft, [{ type: 'TaskUnattended', id, taskId: taskIdOf(orderId, seq), why }]);
  if (ending) return recorded(noted, fault);

  const detected = detect(noted, { path: blocked.path, fault, at: draft.now });
  const { exception } = detected;
  const managed = manage(noted, detected, { round: 0 });
  if (managed.draft.needs !== undefined) return managed.draft;
  if (managed.goesOn) return { ...managed.draft, ruledBy: managed.ruleId };
  const handed = handedOver(recordDetected(managed.draft, fault), { seq, exception: exception.seq }, managed.wishes);
  if (!managed.problem) return handed;
  return recorded(handed, { ...managed.problem, source: blocked.path }, exceptionIdOf(orderId, exception.seq));
}

/** Whether the order still waits for the answer to the question with this task. */
const isAbout = ({ record }: Draft, blocked: Blocked, seq: number): boolean =>
  isQuestion(blocked.fault) && record.open?.some((each) => each.seq === seq && each.cause === `error/${record.errorGen}`) === true;

/** Whether the order has so many open reports already that this exception, and one about its rule, would be too many. */
const isFull = ({ record }: Draft): boolean => (record.open ?? []).filter(isReport).length + 2 > openReportsMax;

function detect(draft: Draft, blocked: Blocked): Detected {
  const cause = causeOf(draft, '', blocked.fault);
  return { blocked, cause, exception: exceptionFor(draft.record, cause, (draft.record.causes ?? 0) + 1, draft.now), open: undefined };
}

interface Handing {
  /** The number of the question, and so of its task. */
  readonly seq: number;
  /** The number of the exception that says that nobody takes the task. */
  readonly exception: number;
}

/** Hands the task of the question to the people that a rule names. */
function handedOver(draft: Draft, { seq, exception }: Handing, wishes: TaskWishes = {}): Draft {
  const { candidates: _, ...given } = wishes;
  if (Object.keys(given).length === 0) return draft;
  const { orderId, submittedAt } = draft.record;
  const id = `${announcedAs(draft.record)}/cause/${seq}/handed/${exception}`;
  return addToOutbox(draft, [{ id, kind: 'handed', orderId, submittedAt, seq, at: draft.now, exception, ...given }]);
}
