import { isDeepStrictEqual } from 'node:util';
import type { StepState } from '#core/data/step-state';
import { judgedAs } from '#core/exceptions/verdict';
import type { StateRecord } from '#ports/records';
import type { JournalEntry } from '#roles/scheduler/instance';
import type { History, Tracked } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { isSuspendedByRule } from './handled-exceptions.ts';
import { type Law, on, type Setting } from './law.ts';

type Given = Extract<JournalEntry, { type: 'InstructionGiven' }>;
type Instructed = Extract<Observation, { type: 'instructed' }>;
type Previewed = Extract<Observation, { type: 'previewed' }>;
type Write = Pick<StateRecord, 'orderId' | 'rev' | 'lastBy'>;
/** The write that applied each instruction, by its reason. */
type Applied = Map<string, Write>;

/**
 * An instruction is applied once, however often it was sent. It is answered `done` exactly if it was applied, and refused only if it is not
 * feasible. Its effect is the one that its dry run showed (L10).
 */
export function instructions(setting: Pick<Setting, 'signals'>): Law {
  const previewed = new Map<string, Previewed>();
  const applied: Applied = new Map();
  return {
    name: 'instructions',
    after: on(['previewed', 'instructed', 'written'], (observation, history) => {
      if (observation.type === 'previewed') previewed.set(observation.reason, observation);
      if (observation.type === 'instructed') return wrongAnswer(observation, history, { applied, ...setting });
      if (observation.type !== 'written') return undefined;
      const order = history.orders.get(observation.after.orderId);
      const given = order?.newFacts.find((fact) => fact.type === 'InstructionGiven');
      const earlier = given && applied.get(given.reason);
      if (given) applied.set(given.reason, observation.after);
      if (!order || !given || !observation.before || order.damagedAt !== undefined) return undefined;
      const wrong =
        appliedBefore(given, observation.after, earlier) ??
        notFeasible(given, observation.before, order) ??
        wrongEffect(given, order) ??
        unlikePreview(previewed.get(given.reason), order);
      return wrong && `order ${order.orderId}: instruction ${given.kind} (${given.reason}) ${wrong}`;
    }),
  };
}

interface Known extends Pick<Setting, 'signals'> {
  readonly applied: Applied;
}

/** Whether the simulated operator gives the instruction. The reason of each such instruction is unique. */
const isNumbered = ({ by, reason }: Given): boolean => by === 'operator' && /^[a-z]+-\d+$/.test(reason);

/** Returns where an instruction was applied before. An order under a reused key begins again at the first revision. */
function appliedBefore(given: Given, { orderId, rev }: StateRecord, earlier: Write | undefined): string | undefined {
  if (!isNumbered(given) || earlier?.orderId !== orderId || earlier.rev >= rev) return undefined;
  return `was applied at rev ${earlier.rev}, and again at rev ${rev}`;
}

/** Returns why the instruction should have been refused in the state before it. */
function notFeasible({ kind }: Given, { processState, suspended, open = [] }: StateRecord, { before }: Tracked): string | undefined {
  if (kind === 'acknowledge') return processState === 'Error' || open.length > 0 ? undefined : 'was applied although nothing was open';
  if (processState === 'Processed') return 'was applied although the order was finished';
  if (kind === 'terminate' || kind === 'amend') return undefined;
  if (kind === 'suspend' && (suspended || processState === 'Error')) return `was applied although the order was ${processState}`;
  if (kind === 'resume' && !suspended) return 'was applied although the order was not suspended';
  if (kind === 'suspend' || kind === 'resume') return undefined;
  if (suspended && kind === 'resubmit' && processState === 'Error') return 'was applied although the order was suspended';
  if (before?.state.ending && kind !== 'mark-compensated' && (kind !== 'resubmit' || processState !== 'Error'))
    return 'was applied although the order was being undone';
  const needsError = kind === 'resubmit' || kind === 'compensate';
  return needsError && processState !== 'Error' ? `was applied although the order was ${processState}` : undefined;
}

/** Facts that show that something other than the instruction changed the steps in the same write. */
const stepsChanged: ReadonlySet<string> = new Set([
  'OrderBlocked',
  'AttemptFailed',
  'ActivityClosed',
  'StepRequested',
  'StepExtended',
  'RuleActed',
]);

/** Returns how the state after the write differs from the meaning of the instruction. */
function wrongEffect({ kind, after }: Given, order: Tracked): string | undefined {
  const { state, before, instance, newFacts } = order;
  const isBlocked = newFacts.some(({ type }) => type === 'OrderBlocked');
  // An amendment starts nothing: see `given-handlers.ts`.
  if (kind === 'amend') return undefined;
  // Other messages may change the order in the same write.
  if (kind === 'acknowledge')
    return newFacts.some(({ type }) => stepsChanged.has(type) || type === 'UndoFailed') ||
      isDeepStrictEqual(before?.state.activities, instance.state.activities)
      ? undefined
      : 'changed its steps';
  // A rule may suspend an order in the write in which a person resumes it.
  if (state.suspended && isSuspendedByRule(newFacts)) return undefined;
  if (kind === 'mark-compensated' && before?.state.phase === 'suspended') return wrongMark(order);
  if (state.suspended !== (kind === 'suspend')) return `left the order ${state.suspended ? '' : 'not '}suspended`;
  if (kind === 'suspend') return undefined;
  // A rule may have suspended the order while it was in Error. When it is resumed, it waits for a person again, and may have no owner.
  if (state.processState === 'Error' && kind === 'resume') return undefined;
  if (state.processState === 'Error' && !isBlocked) return 'left the order in Error';
  if (state.processState !== 'Processed' && (state.lockedBy === null || (state.fault !== null && !isBlocked)))
    return `left the order ${state.lockedBy === null ? 'without an owner' : 'with its fault'}`;
  const ending = state.outcome ?? instance.state.ending?.outcome;
  if (kind === 'cancel' && ending !== 'canceled') return `led to ${ending}`;
  if (kind === 'compensate' && after?.['path'] === undefined && ending !== 'compensated') return `led to ${ending}`;
  if (kind === 'compensate' && after?.['path'] !== undefined && instance.state.ending && !isUndoneByRule(newFacts))
    return `led to ${ending}`;
  if (kind === 'terminate' && state.outcome !== 'terminated') return `led to ${state.processState} ${state.outcome}`;
  if (kind === 'mark-compensated' && !newFacts.some(({ type }) => type === 'MarkedCompensated')) return 'marked nothing';
  const isContinued = newFacts.some(({ type }) => type === 'OrderUnblocked' || type === 'StepRequested' || type === 'ActivityStarted');
  return kind === 'resubmit' && before?.state.blocked && !isContinued ? 'continued nothing' : undefined;
}

/** Whether a rule has undone the whole order in the write of an instruction. */
const isUndoneByRule = (facts: Tracked['newFacts']): boolean =>
  facts.some((fact) => fact.type === 'RuleActed' && judgedAs(fact.action) === 'compensate');

/** Returns how a mark of a suspended order differs from its meaning: the order stays as it is, and keeps the mark until it is resumed. */
function wrongMark({ state, instance, newFacts }: Tracked): string | undefined {
  if (!state.suspended) return 'resumed the order';
  if (!newFacts.some(({ type }) => type === 'MarkedCompensated')) return 'marked nothing';
  return Object.values(instance.state.activities).some(({ marked }) => marked) ? undefined : 'was not kept';
}

/** Compares the result with the dry run, if that was made of the revision just before. */
function unlikePreview(previewed: Previewed | undefined, order: Tracked): string | undefined {
  const { state, instance } = order;
  if (!previewed || previewed.rev + 1 !== state.rev) return undefined;
  // The age at which a rule acts may have come between the dry run and the write.
  if (order.newFacts.some((fact) => fact.type === 'RuleActed' && fact.action.kind === 'raise')) return undefined;
  const { processState, suspended, requests, fault } = previewed.plan;
  if (suspended !== state.suspended) return `led to suspended: ${state.suspended}, but its dry run showed ${suspended}`;
  if (processState !== state.processState) return `led to ${state.processState}, but its dry run showed ${processState}`;
  if (fault !== state.fault?.type) return `left the fault ${state.fault?.type}, but its dry run showed ${fault}`;
  const paths = requests.map(({ path }) => path);
  const [shown, requested] = [paths, instance.lastRequested.filter((path) => paths.includes(path) || !isOverdue(path, order))].map((each) =>
    each.join(' '),
  );
  return shown === requested ? undefined : `requested "${requested}", but its dry run showed "${shown}"`;
}

/** Whether the deadline or the pause of a step passed since the dry run. The write then requests that step, too. */
function isOverdue(path: string, { before, newFacts }: Tracked): boolean {
  const { phase, completeBy = 0 } = (before?.state.activities[path]?.local ?? {}) as Partial<StepState>;
  return (phase === 'requested' || phase === 'waitingToRetry') && newFacts.some(({ at }) => completeBy <= at);
}

function wrongAnswer(observation: Instructed, history: History, { applied, signals }: Known): string | undefined {
  const { orderId, decision, reason, id, outcome, isUnchanged, isInvalid, reasons } = observation;
  const order = history.orders.get(orderId);
  if (!order || order.damagedAt !== undefined || outcome === 'replayed') return order ? undefined : unknownOrder(observation);
  const wrong = (what: string) => `order ${orderId}: instruction ${decision.kind} (${reason}) was answered ${outcome}${what}`;
  if (isInvalid && outcome === 'done') return wrong(' although its payload is invalid');
  const isRefused = outcome === 'infeasible' || outcome === 'invalid';
  if (isRefused && (reasons.length === 0 || reasons.some((each) => each.trim().length < 10))) return wrong(' without a reason');
  if (decision.kind !== 'signal') {
    const write = applied.get(reason);
    const isApplied = write !== undefined;
    if (isApplied !== (outcome === 'done') && !isOvertaken(observation, write)) return wrong(` but was ${isApplied ? '' : 'not '}applied`);
    if (isApplied && outcome === 'done' && !write.lastBy.includes(id)) return wrong(' although another try applied it');
  }
  if (!isUnchanged || outcome === 'stale' || outcome === 'unreadable') return undefined;
  if (outcome === 'not-found' || outcome === 'key-reused') return wrong(' although the order exists');
  return !isInvalid && isFeasible(observation, order, signals) ? wrong(' although it is feasible') : undefined;
}

/** Whether a refusal is correct although the instruction was applied: this try read the order before another try was applied. */
const isOvertaken = ({ id, revAtStart, outcome }: Instructed, write: Write | undefined): boolean =>
  write !== undefined &&
  ['infeasible', 'invalid', 'not-found'].includes(outcome) &&
  (revAtStart === undefined || revAtStart < write.rev) &&
  !write.lastBy.includes(id);

const unknownOrder = ({ orderId, outcome }: Instructed): string | undefined =>
  outcome === 'not-found' ? undefined : `order ${orderId} does not exist, but an instruction to it was answered ${outcome}`;

/** Whether the stored state alone proves that the instruction is feasible. */
function isFeasible(
  { decision: { kind, ...decision } }: Instructed,
  { state, instance, journal }: Tracked,
  signals: Setting['signals'],
): boolean {
  if (state.processState === 'Processed') return false;
  const { ending, blocked, endBy } = instance.state;
  const isError = state.processState === 'Error';
  const answers = 'answer' in decision;
  if (kind === 'terminate') return true;
  if (kind === 'suspend') return !state.suspended && !isError;
  if (kind === 'resume') return state.suspended;
  if (state.suspended && kind === 'resubmit') return false;
  if (ending) return kind === 'resubmit' && isError && !answers;
  if (kind === 'cancel') return true;
  if (kind === 'compensate') return isError && !('path' in decision);
  if (kind === 'resubmit') return isError && endBy === undefined && (blocked?.fault.type === 'OperatorAsked') === answers;
  if (kind === 'signal')
    return (
      signals?.[state.workflow.name] !== undefined && !journal.some(({ type }) => type === 'FaultHandled' || type === 'SignalReceived')
    );
  return false;
}
