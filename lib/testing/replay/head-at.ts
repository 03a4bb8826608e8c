import type { State } from '#core/data/state';
import { mostLate } from '#core/engine/lateness';
import type { OpenCause, ProcessState } from '#ports/records';
import type { CaseHead, OrderCase } from '#roles/cases/case';
import { exceptionPlaceOf } from '#roles/exceptions/ids';
import { timesOf } from '#roles/scheduler/deadlines';
import type { Instance, StoredEntry } from '#roles/scheduler/instance';
import { summaryOf } from '#roles/scheduler/redaction';
import type { Loaded } from '#roles/scheduler/types';

/** An order at a moment of its journal. */
export interface Past extends Pick<Loaded, 'program'> {
  readonly instance: Instance;
  readonly epoch: number;
}

/** Returns the attributes of an order's record at a past moment, from its journal up to then. Leases, and the locks of persons, are not known. */
export function headAt({ head }: OrderCase, { program, instance, epoch }: Past): CaseHead {
  const { state, tail: lines } = instance;
  const processState = processStateAt(state, lines.findLast(isOfClaim));
  const { blocked } = state;
  const { restartedAs: _, ...kept } = head;
  return {
    ...kept,
    epoch,
    lockedBy: processState === 'Processing' || processState === 'Error' ? head.lockedBy : null,
    processState,
    outcome: processState === 'Processed' ? (state.outcome ?? 'completed') : null,
    suspended: isSuspended(state, lines),
    failureCount: mostLate(program, state),
    ...timesOf(program, state),
    fault: blocked ? summaryOf(blocked.fault) : null,
    open: openAt(instance),
    nextDueAt: null,
    nextDueFor: null,
    notes: [],
    updatedAt: lines.at(-1)?.at ?? head.updatedAt,
  };
}

/** Whether a line says that the order was claimed, or that its claim ended. */
export const isOfClaim = ({ type }: Pick<StoredEntry, 'type'>): boolean => type === 'OrderClaimed' || type === 'OrderReset';

/** Returns the process state of an order. `claim`: the last line about its claim, because the state does not tell whether it has one. */
export function processStateAt({ phase }: Pick<State, 'phase'>, claim: Pick<StoredEntry, 'type'> | undefined): ProcessState {
  if (phase === 'closed') return 'Processed';
  if (phase === 'blocked') return 'Error';
  return claim?.type === 'OrderClaimed' ? 'Processing' : 'Pending';
}

/** Whether the order is suspended. The state does not tell that an unclaimed order is suspended; its last instruction does. */
function isSuspended({ suspendedAt }: State, lines: readonly StoredEntry[]): boolean {
  const last = lines.findLast(({ type }) => type === 'InstructionGiven');
  return suspendedAt !== undefined || (last?.type === 'InstructionGiven' && last.kind === 'suspend');
}

/** Returns the causes that wait for somebody: exceptions that nobody has handled, tasks that rules ask for, and a question. */
function openAt({ state: { blocked }, tail: lines, rules }: Instance): readonly OpenCause[] {
  const handled = new Set(lines.flatMap((line) => (line.type === 'ExceptionHandled' ? [line.exceptionId] : [])));
  const exceptions = lines.flatMap((line): readonly OpenCause[] => {
    const seq = line.type === 'ExceptionDetected' && !handled.has(line.exceptionId) ? exceptionPlaceOf(line.exceptionId)?.seq : undefined;
    return seq === undefined ? [] : [{ seq, cause: `exception/${seq}`, at: line.at }];
  });
  const { at = 0 } = lines.at(-1) ?? {};
  const asked = [...(rules?.tasks ?? []), ...(blocked && exceptions.length === 0 ? ['question'] : [])];
  return [...exceptions, ...asked.map((cause) => ({ seq: 0, cause, at, isQuestion: true as const }))];
}
