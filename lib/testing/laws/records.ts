import type { StepState } from '#core/data/step-state';
import type { StateRecord } from '#ports/records';
import type { Tracked } from '#testing/world/history';
import { type Law, on, writerOf } from './law.ts';

const kinds: ReadonlySet<string> = new Set(['unclaimed', 'step', 'claim', 'request', 'timer', 'outbox', 'unsent', 'reminder']);
const tailBytesMax = 8 * 1024;
const pageBytes = 1024;

/** The attributes that other roles decide on agree with each other and with the instance, and nothing is written for nothing. */
export const records = (): Law => ({
  name: 'records',
  after: on(['written'], (observation, history) => {
    const { before, after } = observation;
    const order = history.orders.get(after.orderId);
    const isWhole = writerOf(after) !== undefined && order?.damagedAt === undefined;
    const wrong =
      order &&
      (wrongInLock(after) ??
        wrongInDue(after) ??
        wrongInNotes(after) ??
        wrongInIds(after) ??
        (isWhole ? wrongInWhole(order, before) : undefined));
    return wrong && `${after.orderId}, rev ${after.rev}, ${wrong}`;
  }),
});

/** Replies by their asking, with its time where they want more; wake-ups; what people and callers gave, by a name of theirs. */
const messageId =
  /^(wake-up@\d{4}-\d\d-\d\dT[\d:.]+Z|ord_[a-z2-7]+\/.+#\d+\.\d+(@\d{4}-\d\d-\d\dT[\d:.]+Z)?|(unreadable|cancel)@ord_[a-z2-7]+|[a-z]+-\d+(\/(\d+|again))?)$/;

function wrongInLock({ processState, suspended, lockedBy, outcome, fault }: StateRecord): string | undefined {
  if (processState === 'Processed' && suspended) return 'is finished, and suspended';
  if (processState === 'Processing' && lockedBy === null) return 'is Processing, and nobody has claimed it';
  if ((processState === 'Pending' || processState === 'Processed') && lockedBy !== null)
    return `is ${processState}, and belongs to ${lockedBy}`;
  if ((processState === 'Processed') !== (outcome !== null)) return `is ${processState}, and has come to ${outcome}`;
  return (processState === 'Error') === (fault !== null) ? undefined : `is ${processState}, and has the fault ${fault?.type}`;
}

function wrongInDue({ processState, suspended, nextDueAt, nextDueFor, worklist, worklistAt, outbox }: StateRecord): string | undefined {
  if (suspended && processState !== 'Error') {
    const isTold = outbox.length > 0;
    if (nextDueFor?.kind !== (isTold ? 'outbox' : 'suspended') || (nextDueAt !== null) !== isTold || (worklist !== null) !== isTold)
      return `is suspended, and due for ${JSON.stringify(nextDueFor)} at ${nextDueAt}, in ${worklist}`;
    return undefined;
  }
  if (nextDueFor === null || nextDueAt === null) {
    if (nextDueFor !== null || nextDueAt !== null || worklist !== null || worklistAt !== null)
      return 'is due for nothing, and stands in the worklist';
    return processState === 'Processed' && outbox.length === 0 ? undefined : `is ${processState}, and due for nothing`;
  }
  if (!kinds.has(nextDueFor.kind)) return `is due for ${JSON.stringify(nextDueFor)}`;
  if (nextDueFor.kind === 'step' && nextDueFor.path === undefined) return 'is due for a step without a name';
  if (worklist !== (nextDueFor.kind === 'reminder' ? 'error' : 'due')) return `is due for a ${nextDueFor.kind}, and stands in ${worklist}`;
  return worklistAt === null || worklistAt > nextDueAt ? 'stands in the worklist later than it is due' : undefined;
}

const wrongInIds = ({ lastBy }: StateRecord): string | undefined => {
  const strange = lastBy.find((id) => !messageId.test(id));
  return strange === undefined ? undefined : `is written for ${strange}`;
};

const wrongInNotes = ({ notes }: StateRecord): string | undefined =>
  notes.some(({ type, at }) => typeof type !== 'string' || !Number.isFinite(at)) ? `has a note ${JSON.stringify(notes.at(-1))}` : undefined;

/** Of a write of everything: what follows from the instance. */
function wrongInWhole({ state, instance, before: was, news, journal }: Tracked, before: StateRecord | undefined): string | undefined {
  if (journal[0]?.type !== 'OrderSubmitted') return `has a journal that begins with ${journal[0]?.type}`;
  const tailBytes = JSON.stringify(instance.tail).length;
  // What was long before is put aside; what this write adds may be as long as an answer.
  if (tailBytes > tailBytesMax && tailBytes - JSON.stringify(news).length > tailBytesMax) return 'keeps a long journal in its state';
  const isShort = before === undefined || before.blob.length <= pageBytes;
  const wrong = (was && !isShort ? wrongInTail(was, instance) : undefined) ?? wrongInFault(state, instance);
  if (wrong) return wrong;
  if (
    state.epoch !== (before?.epoch ?? 0) &&
    state.processState !== 'Pending' &&
    !news.some(({ type }) => type === 'OrderClaimed' || type === 'InstanceRebuilt')
  )
    return 'is claimed, and its journal does not say so';
  if (state.outcome !== null && state.outcome !== instance.state.outcome)
    return `has come to ${state.outcome}, and its instance to ${instance.state.outcome}`;
  const isSame = was !== undefined && news.length === 0 && JSON.stringify(was.state) === JSON.stringify(instance.state);
  if (isSame && before && before.outbox.length === 0 && JSON.stringify(was.keys) === JSON.stringify(instance.keys))
    return 'is written for nothing';
  if (state.notes.length > 0) return 'keeps notes that its journal does not know';
  return missesDeadline(state, instance.state.activities);
}

/** What there was of the journal stays where it is until it is worth a page; then it goes there as a whole. */
function wrongInTail({ tail: was, seq }: Tracked['instance'], { tail }: Tracked['instance']): string | undefined {
  const kept = tail.filter((entry) => entry.seq <= seq).length;
  const isLong = JSON.stringify(was).length > pageBytes;
  if (isLong && kept > 0) return `keeps ${kept} lines of its journal that belong into a page`;
  return !isLong && kept < was.length ? `puts a journal of ${was.length} lines into a page` : undefined;
}

/** What people are shown of a fault says as much as the order itself knows. */
function wrongInFault({ fault }: StateRecord, { state: { blocked: held } }: Tracked['instance']): string | undefined {
  const same = fault && held?.fault.type.endsWith(fault.type) ? held.fault : undefined;
  if (!fault || !same) return undefined;
  const [shown, known] = [fault, same].map((each) => [each.class, each.permanent, each.source, each.data === undefined].join(' '));
  return shown === known ? undefined : `is held for ${JSON.stringify(same)}, and shows ${JSON.stringify(fault)}`;
}

/** What an agent was asked for is missed when its time is over, at the latest. */
function missesDeadline(
  { processState, suspended, recover, nextDueAt, nextDueFor }: StateRecord,
  activities: Tracked['instance']['state']['activities'],
): string | undefined {
  if (
    processState !== 'Processing' ||
    suspended ||
    recover !== 'step' ||
    nextDueFor?.kind === 'request' ||
    nextDueFor?.waitsUntil !== undefined
  )
    return undefined;
  const late = Object.entries(activities).find(([, { local: own, awaitsPerson: waits, reply, waitsUntil }]) => {
    const { phase, mode, completeBy = 0 } = (own ?? {}) as Partial<StepState>;
    return phase === 'requested' && mode === undefined && waitsUntil === undefined && !waits && !reply && completeBy < (nextDueAt ?? 0);
  });
  return late && `waits for ${late[0]} longer than it was given`;
}
