import { shortType } from '#core/data/fault';
import { definitionPath } from '#core/data/ids';
import { isObject } from '#core/data/json';
import type { StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { isBeingUndone } from '#core/views/undo-progress';
import type { StateRecord } from '#ports/records';
import { isAwaited } from '#roles/scheduler/handlers';
import { hasLock } from '#roles/scheduler/lease';
import type { Tracked } from '#testing/world/history';
import { type Law, on, type Setting, writerOf } from './law.ts';

const kinds: ReadonlySet<string> = new Set(['unclaimed', 'step', 'claim', 'request', 'timer', 'outbox', 'unsent', 'reminder', 'rule']);
/** The most bytes of journal entries in a record, apart from the entries of its last write. */
const tailBytesMax = 8 * 1024;
/** A write pages out the older journal entries if they are longer than this. */
const pageBytes = 1024;

/** The attributes of a record agree with each other and with its instance, and every write changes something. */
export const records = ({ mayWait }: Pick<Setting, 'mayWait'>): Law => ({
  name: 'records',
  after: on(['written'], (observation, history) => {
    const { before, after } = observation;
    const order = history.orders.get(after.orderId);
    const isWhole = writerOf(after) !== undefined && order?.damagedAt === undefined;
    const wrong =
      order &&
      (wrongInLock(after) ??
        wrongInDue(after, {
          mayBeDueForNothing: mayWait && waitsWithoutLimit(order),
          awaitsHandler: order.instance.rules?.handlers?.some(isAwaited) ?? false,
          standsStill: order.instance.state.stillSince !== undefined,
          isDamaged: order.damagedAt !== undefined,
        }) ??
        wrongInNotes(after) ??
        wrongInIds(after) ??
        (isWhole ? wrongInWhole(order, before) : undefined));
    return wrong && `order ${after.orderId}, rev ${after.rev}: ${wrong}`;
  }),
});

/** Ids of messages that cause writes: wake-ups, replies by request id, heartbeats with their time, handlers that ended, bulk runs, questions that nobody takes, undone writes, instructions and calls by id. */
const messageId =
  /^(wake-up@\d{4}-\d\d-\d\dT[\d:.]+Z|ord_[a-z2-7]+\/.+#\d+\.\d+(@\d{4}-\d\d-\d\dT[\d:.]+Z)?|(unreadable|cancel)@ord_[a-z2-7]+|handled@\d+|ord_[a-z2-7]+\/[\w/[\]-]+\/\d{13}|bulk\/blk_[0-9a-f]+|tsk_[a-z2-7]+_\d+\/(late|empty)\/\d+|[a-z]+-\d+(\/(\d+|again))?)$/;

function wrongInLock({ processState, suspended, lockedBy, outcome, fault }: StateRecord): string | undefined {
  if (processState === 'Processed' && suspended) return 'finished and suspended';
  if (processState === 'Processing' && lockedBy === null) return 'Processing without an owner';
  if ((processState === 'Pending' || processState === 'Processed') && lockedBy !== null) return `${processState}, but owned by ${lockedBy}`;
  if ((processState === 'Processed') !== (outcome !== null)) return `${processState} with the outcome ${outcome}`;
  // An order that ended without completing keeps the fault that led to it.
  if (processState === 'Processed' && outcome !== 'completed') return undefined;
  return (processState === 'Error') === (fault !== null) ? undefined : `${processState} with the fault ${fault?.type}`;
}

/** Whether an order waits only for signals, without a time limit. Such an order has no deadline. */
function waitsWithoutLimit({ program, instance }: Tracked): boolean {
  const open = Object.entries(instance.state.activities);
  const waitsForSignal = ([path]: (typeof open)[number]) => program !== undefined && nodeAt(program, path).activity === 'waitFor';
  const hasTime = ([, { local }]: (typeof open)[number]) => isObject(local) && ('until' in local || 'completeBy' in local);
  return open.some(waitsForSignal) && !open.some(hasTime);
}

/** Facts that decide about a deadline. `standsStill`: the end of a lock is not written yet. */
interface ForDue {
  readonly mayBeDueForNothing: boolean;
  readonly awaitsHandler: boolean;
  readonly standsStill: boolean;
  readonly isDamaged: boolean;
}

function wrongInDue(record: StateRecord, { mayBeDueForNothing, awaitsHandler, standsStill, isDamaged }: ForDue): string | undefined {
  const { processState, suspended, nextDueAt, nextDueFor, worklist, worklistAt, outbox } = record;
  // A record that cannot be read goes into Error in spite of a lock.
  if (hasLock(record) && processState !== 'Processed' && !isDamaged)
    return nextDueFor?.kind === 'lock' && nextDueAt === record.heldUntil && worklist === 'due'
      ? undefined
      : `locked until ${record.heldUntil}, but due for ${JSON.stringify(nextDueFor)} at ${nextDueAt}`;
  // A host that takes the lease after a lock leaves the rest of the record as it is.
  if ((standsStill || isDamaged) && nextDueFor?.kind === 'lock') return undefined;
  if (suspended && processState !== 'Error') {
    // A suspended order asks again about a handler that has not answered.
    const kind = outbox.length > 0 ? 'outbox' : awaitsHandler ? 'handler' : 'suspended';
    const isDue = kind !== 'suspended';
    if (nextDueFor?.kind !== kind || (nextDueAt !== null) !== isDue || (worklist !== null) !== isDue)
      return `suspended, but due for ${JSON.stringify(nextDueFor)} at ${nextDueAt} in the worklist ${worklist}`;
    return undefined;
  }
  if (nextDueFor === null || nextDueAt === null) {
    if (nextDueFor !== null || nextDueAt !== null || worklist !== null || worklistAt !== null)
      return 'due for nothing, but in the worklist';
    const isDone = outbox.length === 0 && (processState === 'Processed' || (processState === 'Processing' && mayBeDueForNothing));
    return isDone ? undefined : `${processState}, but due for nothing`;
  }
  if (!kinds.has(nextDueFor.kind)) return `due for the unknown kind ${JSON.stringify(nextDueFor)}`;
  if (nextDueFor.kind === 'step' && nextDueFor.path === undefined) return 'due for a step without a path';
  if (worklist !== (nextDueFor.kind === 'reminder' ? 'error' : 'due'))
    return `due for a ${nextDueFor.kind}, but in the worklist ${worklist}`;
  return worklistAt === null || worklistAt > nextDueAt ? 'in the worklist with a later time than it is due' : undefined;
}

const wrongInIds = ({ lastBy }: StateRecord): string | undefined => {
  const unknown = lastBy.find((id) => !messageId.test(id));
  return unknown === undefined ? undefined : `written because of an unknown message id ${unknown}`;
};

const wrongInNotes = ({ notes }: StateRecord): string | undefined =>
  notes.some(({ type, at }) => typeof type !== 'string' || !Number.isFinite(at))
    ? `invalid note ${JSON.stringify(notes.at(-1))}`
    : undefined;

/** Checks a write of the whole state against the instance. */
function wrongInWhole(
  { state, instance, before: previous, newFacts, journal, program }: Tracked,
  before: StateRecord | undefined,
): string | undefined {
  if (journal[0]?.type !== 'OrderSubmitted') return `its journal begins with ${journal[0]?.type}`;
  const { processState, outcome, fault } = state;
  const cause = outcome === 'completed' || !instance.state.cause ? undefined : shortType(instance.state.cause.type);
  if (processState === 'Processed' && fault?.type !== cause) return `ended with the fault ${fault?.type}, but its cause is ${cause}`;
  const tailBytes = JSON.stringify(instance.tail).length;
  // Long older entries are paged out, but one write may add entries of any length.
  if (tailBytes > tailBytesMax && tailBytes - JSON.stringify(instance.tail.slice(-newFacts.length)).length > tailBytesMax)
    return 'a long journal is not paged out';
  const isShort = before === undefined || before.blob.length <= pageBytes;
  const wrong = (previous && !isShort ? wrongInTail(previous, instance) : undefined) ?? wrongInFault(state, instance);
  if (wrong) return wrong;
  if (
    state.epoch !== (before?.epoch ?? 0) &&
    state.processState !== 'Pending' &&
    !newFacts.some(({ type }) => type === 'OrderClaimed' || type === 'InstanceRebuilt')
  )
    return 'claimed without a journal entry';
  if (state.outcome !== null && state.outcome !== instance.state.outcome)
    return `outcome ${state.outcome}, but its instance has ${instance.state.outcome}`;
  if (
    previous &&
    before &&
    newFacts.length === 0 &&
    before.outbox.length === 0 &&
    before.heldBy === state.heldBy &&
    isSame(previous, instance) &&
    before.ruleTimers === state.ruleTimers &&
    // A suspended order that asks again about its handler changes nothing else.
    before.nextDueFor?.kind !== 'handler' &&
    // The write gives the order the deadline of its steps that are not put off.
    !(before.nextDueFor?.kind === 'rule' && before.nextDueFor.putOff)
  )
    return 'written without a change';
  if ((state.undoing === true) !== isBeingUndone(instance.state))
    return state.undoing ? 'marked as being undone, and it is not' : 'it is being undone, and has no mark of it';
  if (state.notes.length > 0) return 'its notes are not in its journal yet';
  return wrongDeadline(state, instance.state.activities, program);
}

const isSame = (one: Tracked['instance'], other: Tracked['instance']): boolean =>
  [one, other]
    .map(({ state, keys, rules = {} }) => JSON.stringify([state, keys ?? null, rules]))
    .every((text, _, [first]) => text === first);

/** Checks that the older entries are all paged out together, as soon as they fill a page. */
function wrongInTail({ tail: previous, seq }: Tracked['instance'], { tail }: Tracked['instance']): string | undefined {
  const kept = tail.filter((entry) => entry.seq <= seq).length;
  const isLong = JSON.stringify(previous).length > pageBytes;
  if (isLong && kept > 0) return `${kept} journal lines are not paged out`;
  return !isLong && kept < previous.length ? `a short journal of ${previous.length} lines is paged out` : undefined;
}

/** Checks that the fault in the attributes agrees with the fault in the instance. */
function wrongInFault({ fault }: StateRecord, { state: { blocked } }: Tracked['instance']): string | undefined {
  const same = fault && blocked?.fault.type.endsWith(fault.type) ? blocked.fault : undefined;
  if (!fault || !same) return undefined;
  const [shown, known] = [fault, same].map((each) => [each.class, each.permanent, each.source, each.data === undefined].join(' '));
  return shown === known ? undefined : `blocked for ${JSON.stringify(same)}, but its fault is ${JSON.stringify(fault)}`;
}

/** Checks that the record is due no later than the deadline of each requested step. */
function wrongDeadline(
  { processState, suspended, recover, nextDueAt, nextDueFor }: StateRecord,
  activities: Tracked['instance']['state']['activities'],
  program: Program | undefined,
): string | undefined {
  if (
    processState !== 'Processing' ||
    suspended ||
    recover !== 'step' ||
    nextDueFor?.kind === 'request' ||
    nextDueFor?.kind === 'lock' ||
    nextDueFor?.waitsUntil !== undefined
  )
    return undefined;
  const late = Object.entries(activities).find(([path, { local, awaitsPerson, reply, waitsUntil }]) => {
    const { phase, mode, completeBy = 0 } = (local ?? {}) as Partial<StepState>;
    // The supervisor has put off the late steps of an agent.
    const until = nextDueFor?.putOff?.[agentOf(program, path)]?.until ?? 0;
    return (
      phase === 'requested' &&
      mode === undefined &&
      waitsUntil === undefined &&
      !awaitsPerson &&
      !reply &&
      Math.max(completeBy, until) < (nextDueAt ?? 0)
    );
  });
  return late && `due after the deadline of ${late[0]}`;
}

const agentOf = (program: Program | undefined, path: string): string => {
  const node = program?.nodes.get(definitionPath(path));
  return node && isRemote(node) ? node.agent : '';
};
