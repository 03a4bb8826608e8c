import type { Handling } from '#core/exceptions/exception';
import type { JournalEntry } from '#roles/scheduler/instance';

/**
 * Returns the cause of a recovery: the id of the exception about which a person or a rule recovered the order, or the id of the order if no
 * exception led to the recovery. `undoneAt`: the time of an undo of the recovery, in milliseconds since 1970.
 */
export function causeOfRecovery(orderId: string, journal: readonly JournalEntry[], undoneAt: number): string {
  const undo = journal.find((entry) => entry.at === undoneAt && isUndo(entry));
  if (!undo) return orderId;
  // Clocks of hosts differ, so the undo may have an earlier time than the line that begins its recovery.
  const begun = journal.findLast((entry) => entry.seq < undo.seq && personOrRule(entry) !== undefined);
  const by = begun && personOrRule(begun);
  // The write that begins the recovery says of each open exception that it is handled.
  const isHandled = ({ by: part, id, at }: Handling): boolean => part === by?.by && id === by.id && at === begun?.at;
  const handled = journal.find((entry) => entry.type === 'ExceptionHandled' && isHandled(entry.handling));
  return handled?.type === 'ExceptionHandled' ? handled.exceptionId : orderId;
}

const isUndo = (entry: JournalEntry): boolean =>
  entry.type === 'MarkedCompensated' || (entry.type === 'ActivityClosed' && entry.result === 'Compensated');

/** Returns who begins a recovery with a line of the journal; undefined for other lines. */
function personOrRule(entry: JournalEntry): Pick<Handling, 'by' | 'id'> | undefined {
  if (entry.type === 'InstructionGiven' && entry.kind === 'recover') return { by: 'person', id: entry.by };
  return entry.type === 'RuleActed' && entry.action.kind === 'recover' ? { by: 'rule', id: entry.ruleId } : undefined;
}
