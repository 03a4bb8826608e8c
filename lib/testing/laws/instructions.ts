import type { StepState } from '#core/activities/step';
import type { StateRecord } from '#ports/records';
import type { JournalEntry } from '#roles/scheduler/instance';
import type { History, Tracked } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on } from './law.ts';

type Given = Extract<JournalEntry, { type: 'InstructionGiven' }>;
type Instructed = Extract<Observation, { type: 'instructed' }>;
type Foreseen = Extract<Observation, { type: 'previewed' }>;
/** By the reason of a decision: the write that carried it out. */
type CarriedOut = Map<string, Pick<StateRecord, 'rev' | 'lastBy'>>;

/** L10: what a person decided is done when it is answered `done`, is what he was shown, and is refused only where it cannot be done. */
export function instructions(): Law {
  const foreseen = new Map<string, Foreseen>();
  const carriedOut: CarriedOut = new Map();
  return {
    name: 'instructions',
    after: on(['previewed', 'instructed', 'written'], (observation, history) => {
      if (observation.type === 'previewed') foreseen.set(observation.reason, observation);
      if (observation.type === 'instructed') return answeredWrongly(observation, history, carriedOut);
      if (observation.type !== 'written') return undefined;
      const order = history.orders.get(observation.after.orderId);
      const given = order?.news.find((fact) => fact.type === 'InstructionGiven');
      if (given) carriedOut.set(given.reason, observation.after);
      if (!order || !given || !observation.before || order.damagedAt !== undefined) return undefined;
      const wrong = mayNot(given, observation.before, order) ?? showsNot(given, order) ?? otherThan(foreseen.get(given.reason), order);
      return wrong && `${given.kind} of ${order.orderId} (${given.reason}) ${wrong}`;
    }),
  };
}

function mayNot({ kind }: Given, { processState, suspended }: StateRecord, { before }: Tracked): string | undefined {
  if (processState === 'Processed') return 'is carried out though the order is finished';
  if (kind === 'terminate') return undefined;
  if (kind === 'suspend' && (suspended || processState === 'Error')) return `is carried out though the order is ${processState}`;
  if (kind === 'resume' && !suspended) return 'is carried out though the order is not suspended';
  if (kind === 'suspend' || kind === 'resume') return undefined;
  if (suspended && ((kind === 'resubmit' && processState === 'Error') || kind === 'mark-compensated'))
    return 'is carried out though the order is suspended';
  if (before?.state.ending && kind !== 'mark-compensated' && (kind !== 'resubmit' || processState !== 'Error'))
    return 'is carried out though the order is being undone';
  const needsError = kind === 'resubmit' || kind === 'compensate';
  return needsError && processState !== 'Error' ? `is carried out though the order is ${processState}` : undefined;
}

function showsNot({ kind }: Given, { state, before, instance, news }: Tracked): string | undefined {
  const isHeld = news.some(({ type }) => type === 'OrderBlocked');
  if (state.suspended !== (kind === 'suspend')) return `leaves the order ${state.suspended ? 'suspended' : 'at work'}`;
  if (kind === 'suspend') return undefined;
  if (state.processState === 'Error' && !isHeld && kind !== 'resume') return 'leaves the order in Error';
  if (state.processState !== 'Processed' && (state.lockedBy === null || (state.fault !== null && !isHeld)))
    return `leaves the order with ${state.lockedBy === null ? 'nobody' : 'its fault'}`;
  const ending = state.outcome ?? instance.state.ending?.outcome;
  if (kind === 'cancel' && ending !== 'canceled') return `leads to ${ending}`;
  if (kind === 'compensate' && ending !== 'compensated') return `leads to ${ending}`;
  if (kind === 'terminate' && state.outcome !== 'terminated') return `leads to ${state.processState} ${state.outcome}`;
  if (kind === 'mark-compensated' && !news.some(({ type }) => type === 'MarkedCompensated')) return 'marks nothing';
  const goesOn = news.some(({ type }) => type === 'OrderUnblocked' || type === 'StepRequested' || type === 'ActivityStarted');
  return kind === 'resubmit' && before?.state.blocked && !goesOn ? 'lets nothing go on' : undefined;
}

/** What was shown as of the state before is what came of it. */
function otherThan(foreseen: Foreseen | undefined, order: Tracked): string | undefined {
  const { state, instance } = order;
  if (!foreseen || foreseen.rev + 1 !== state.rev) return undefined;
  const { processState, suspended, requests: asks, fault } = foreseen.plan;
  if (suspended !== state.suspended) return `was to lead to suspended: ${suspended}`;
  if (processState !== state.processState) return `was to lead to ${processState}, and leads to ${state.processState}`;
  if (fault !== state.fault?.type) return `was to leave ${fault}, and leaves ${state.fault?.type}`;
  const paths = asks.map(({ path }) => path);
  const [shown, asked] = [paths, instance.lastRequested.filter((path) => paths.includes(path) || !isOverdue(path, order))].map((each) =>
    each.join(' '),
  );
  return shown === asked ? undefined : `was to ask for "${shown}", and asks for "${asked}"`;
}

/** Its time, or its pause, may have passed since it was shown: then it is asked again with the others. */
function isOverdue(path: string, { before, news }: Tracked): boolean {
  const { phase, completeBy = 0 } = (before?.state.activities[path]?.local ?? {}) as Partial<StepState>;
  return (phase === 'requested' || phase === 'waitingToRetry') && news.some(({ at }) => completeBy <= at);
}

function answeredWrongly(observation: Instructed, history: History, carriedOut: CarriedOut): string | undefined {
  const { orderId, decision, reason, id, outcome, still, isWrong, reasons } = observation;
  const order = history.orders.get(orderId);
  if (!order || order.damagedAt !== undefined || outcome === 'replayed') return order ? undefined : unknown(observation);
  const wrong = (what: string) => `${decision.kind} of ${orderId} (${reason}) is answered ${outcome}${what}`;
  if (isWrong && outcome === 'done') return wrong(', and brings along what is wrong');
  const isRefused = outcome === 'infeasible' || outcome === 'invalid';
  if (isRefused && (reasons.length === 0 || reasons.some((each) => each.trim().length < 10))) return wrong(', and nobody is told why');
  if (decision.kind !== 'signal') {
    const write = carriedOut.get(reason);
    const isGiven = write !== undefined;
    if (isGiven !== (outcome === 'done') && !isOvertaken(observation, write)) return wrong(`, and was ${isGiven ? '' : 'not '}carried out`);
    if (isGiven && outcome === 'done' && !write.lastBy.includes(id)) return wrong(', and another try has carried it out');
  }
  if (!still || outcome === 'stale' || outcome === 'unreadable') return undefined;
  if (outcome === 'not-found' || outcome === 'key-reused') return wrong(', and it is there');
  return !isWrong && isFeasible(observation, order) ? wrong(', though nothing speaks against it') : undefined;
}

/** A try that began before, and saw the order as it was then, is refused rightly though a later one has carried it out since. */
const isOvertaken = ({ id, since, outcome }: Instructed, write: Pick<StateRecord, 'rev' | 'lastBy'> | undefined): boolean =>
  write !== undefined &&
  ['infeasible', 'invalid', 'not-found'].includes(outcome) &&
  (since === undefined || since < write.rev) &&
  !write.lastBy.includes(id);

const unknown = ({ orderId, outcome }: Instructed): string | undefined =>
  outcome === 'not-found' ? undefined : `${orderId} is not stored, and an instruction is answered ${outcome}`;

/** Where that is sure, from what is stored alone. */
function isFeasible({ decision: { kind, ...decision } }: Instructed, { state, instance, journal }: Tracked): boolean {
  if (state.processState === 'Processed') return false;
  const { ending, blocked: held, endBy } = instance.state;
  const isError = state.processState === 'Error';
  const answers = 'answer' in decision;
  if (kind === 'terminate') return true;
  if (kind === 'suspend') return !state.suspended && !isError;
  if (kind === 'resume') return state.suspended;
  if (state.suspended && kind === 'resubmit') return false;
  if (ending) return kind === 'resubmit' && isError && !answers;
  if (kind === 'cancel') return true;
  if (kind === 'compensate') return isError;
  if (kind === 'resubmit') return isError && endBy === undefined && (held?.fault.type === 'OperatorAsked') === answers;
  if (kind === 'signal')
    return state.workflow.name === 'approval' && !journal.some(({ type }) => type === 'FaultHandled' || type === 'SignalReceived');
  return false;
}
