import { localOf, stepOf } from '#core/activities/index';
import { engineFaults, type Fault, isQuestion, shortType } from '#core/data/fault';
import { stepOfUndo, undonePath } from '#core/data/ids';
import { isObject } from '#core/data/json';
import type { ActivityState, Outcome, State } from '#core/data/state';
import { awaitsReply, type StepState } from '#core/data/step-state';
import { isRemote, type RemoteActivity, rootPath } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';
import { pauseOf } from './waits.ts';

/** Facts outside of an order's own state that explain why it waits. */
export interface Surroundings {
  /** Returns the id of the order that a call has started. */
  readonly childOf?: (path: string, generation: number) => string;
  /** Returns the reason why the requests of an agent wait. */
  readonly obstacleOf?: (agent: string) => Obstacle | undefined;
  /** Returns the last failure that the agent of an open step reported. */
  readonly lastAnswerOf?: (path: string) => Fault | undefined;
  /** The host that has locked the instance. Times are milliseconds since 1970. */
  readonly lock?: { readonly by: string; readonly until: number } | undefined;
}

/** The reason why the requests of an agent wait. Times are milliseconds since 1970. */
export type Obstacle =
  /** The circuit breaker is open. It closes once a probe succeeds. */
  | { readonly kind: 'away'; readonly since: number; readonly nextProbeAt: number }
  /** The service is back, and the waiting requests are released one after another. */
  | { readonly kind: 'recovering'; readonly since: number }
  | { readonly kind: 'closed-channel'; readonly since: number; readonly by: string; readonly reason: string };

/** The times and facts with which a text is written. */
interface Around extends Surroundings {
  readonly now: number | undefined;
}

/** Explains an order's current state in one sentence for a person. Times are UTC; with `now` they are as short as possible. */
export function explain(program: Program, state: State, now?: number, around: Surroundings = {}): string {
  const lock = around.lock ? ` ${around.lock.by} has locked it until ${timeText(around.lock.until, now)}.` : '';
  return `${reasonFor(program, state, { ...around, now })}${lock}`;
}

function reasonFor(program: Program, state: State, around: Around): string {
  if (state.phase === 'initialized') return 'Waits to be started.';
  if (state.phase === 'closed') return endings[state.outcome ?? 'completed'];
  if (state.blocked) return blockedText(state, state.blocked);
  if (state.suspendedAt !== undefined) return suspendedText(state, timeText(state.suspendedAt, around.now));

  const waits = Object.keys(state.activities).flatMap((path) => waitText(program, state, path, around) ?? []);
  const shown = waits.slice(0, shownMax);
  const more = waits.length - shown.length;
  const text = [...shown, ...(more > 0 ? [`${more} more like these`] : [])].join('; ');
  if (state.ending) return `${state.ending.outcome === 'canceled' ? 'Canceled' : 'To be undone'}: ${text}.`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** The most activities that the sentence names. It counts the others. */
const shownMax = 3;

const endings: { readonly [outcome in Outcome]: string } = {
  completed: 'Completed.',
  compensated: 'Compensated: what it had done was undone.',
  rejected: 'Rejected: nothing was left to undo.',
  canceled: 'Canceled: what it had done was undone.',
  terminated: 'Terminated: it ended as it was, and nothing was undone.',
};

function suspendedText({ activities }: State, since: string): string {
  const answered = Object.values(activities).filter(({ reply }) => reply).length;
  const kept =
    answered === 0
      ? ''
      : `; ${answered === 1 ? 'an answer' : `${answered} answers`} that came meanwhile ${answered === 1 ? 'is' : 'are'} kept`;
  const marked = Object.keys(activities).filter((path) => activities[path]?.marked);
  const hand = marked.length === 0 ? '' : `; the undo of ${marked.map(stepOfUndo).join(' and ')} is marked as done`;
  return `Suspended by an operator at ${since}: its time stands still, and nothing is requested until somebody resumes it${kept}${hand}.`;
}

function blockedText({ activities }: State, { path, fault }: NonNullable<State['blocked']>): string {
  const others = Object.entries(activities).filter(([each, { awaitsPerson: waits }]) => waits && each !== path);
  const next = others.map(([each, { fault }]) => `${reasonText(fault)} at ${each}`);
  const after = next.length > 0 ? `; after that: ${next.join(' and ')}` : '';
  if (isQuestion(fault))
    return after === '' ? `Waits for an answer at ${path}: ${fault.message}` : `Waits for an answer: ${fault.message} (${path})${after}.`;
  const unknown = fault.outcomeUnknown ? '; its outcome is unknown' : '';
  // An exception from outside blocks the whole order, and its source is the step that is meant.
  const place = path === rootPath ? (fault.source ?? path) : path;
  return `Blocked: ${shortType(fault.type)} at ${place}${unknown}${after}.${causeText(fault, activities[path])}`;
}

/** Returns the error of the app's or the service's code behind a fault. The type of any other fault says enough. */
function causeText({ class: faultClass, type, message }: Fault, activity: ActivityState | undefined): string {
  const { reason } = (activity?.local ?? {}) as Partial<StepState>;
  const isLate = type === engineFaults.deadlineExceeded && reason !== undefined;
  return faultClass === 'application-failure' || faultClass === 'unexpected' || isLate ? ` ${message}` : '';
}

/** Returns the reason why an activity is blocked. */
const reasonText = (fault: Fault | undefined): string =>
  fault === undefined ? 'a fault' : isQuestion(fault) ? 'an answer' : shortType(fault.type);

/** Returns what one activity waits for; undefined if other activities have to continue first. */
function waitText(program: Program, state: State, path: string, around: Around): string | undefined {
  const { now } = around;
  const activity = state.activities[path];
  const node = nodeAt(program, path);
  const step = stepOf(node, activity);
  const pause = pauseOf(node, activity);
  if (pause !== undefined) return `waits ${lengthText(pause, now)} before it runs ${path} once more`;
  if (isRemote(node)) {
    const isCall = node.activity === 'call' && step && step.mode === undefined && awaitsReply(step);
    const text = isCall ? callText(node, path, step, around) : step && stepText(node, state, path, step, now);
    return text === undefined ? undefined : `${text}${obstacleText(node, around)}${answerText(path, around)}`;
  }
  if (node.activity === 'waitFor') {
    const local = localOf(node, activity);
    return (
      local && `waits for the signal ${node.signal}${local.until === undefined ? '' : ` until ${timeText(local.until, now)}`} at ${path}`
    );
  }
  const until = untilOf(activity);
  if (until === undefined) return undefined;
  if (node.activity !== 'retry') return `waits ${lengthText(until, now)} at ${path}`;
  const { attempt = 1 } = localOf(node, activity) ?? {};
  return `waits ${lengthText(until, now)} before it runs ${path} once more, after ${attempt === 1 ? 'one failure' : `${attempt} failures`}`;
}

/** Returns why the requests of an agent wait, and what ends that. */
function obstacleText({ agent }: RemoteActivity, { obstacleOf, now }: Around): string {
  const obstacle = obstacleOf?.(agent);
  if (!obstacle) return '';
  const since = timeText(obstacle.since, now);
  switch (obstacle.kind) {
    case 'away':
      return `, but the service of ${agent} has been unavailable since ${since} (its circuit breaker is open): requests continue when a probe succeeds; the next probe is at ${timeText(obstacle.nextProbeAt, now)}`;
    case 'recovering':
      return `, and the service of ${agent} has answered again since ${since}: the waiting requests are released one after another`;
    case 'closed-channel':
      return `, but ${obstacle.by} closed the channel ${agent} at ${since} (${obstacle.reason}): requests continue when an operator opens it`;
  }
}

/** The most characters that are quoted of an agent's last answer. */
const answerMax = 300;

function answerText(path: string, { lastAnswerOf }: Around): string {
  const fault = lastAnswerOf?.(path);
  if (!fault) return '';
  const text = `${shortType(fault.type)}${fault.message === '' ? '' : `: ${fault.message}`}`;
  return ` (last answer: ${text.length > answerMax ? `${text.slice(0, answerMax)}…` : text.replace(/\.$/, '')})`;
}

/** Returns the end of a pause, which a built-in or a custom activity keeps as `until`. */
function untilOf(activity: ActivityState | undefined): number | undefined {
  const until = isObject(activity?.local) ? activity.local['until'] : undefined;
  return typeof until === 'number' ? until : undefined;
}

/** A called order may take any time, so the text omits the caller's next query. */
const callText = ({ operation }: RemoteActivity, path: string, { generation }: StepState, { childOf }: Around): string =>
  `waits for ${childOf ? `the order ${childOf(path, generation)}` : 'an order'} of ${operation} at ${path}`;

function stepText(
  { agent, operation }: RemoteActivity,
  { undo = [], pagedUndo }: State,
  path: string,
  local: StepState,
  now: number | undefined,
): string | undefined {
  const { phase, mode, attempt, completeBy } = local;
  const time = timeText(completeBy, now);
  const request = attempt > 1 ? `${path} (attempt ${attempt})` : path;
  if (phase === 'undoing') return undefined;
  if (phase === 'impossible') return `a person must do the undo of ${undonePath(path)} by hand, because its input could not be evaluated`;
  if (mode === 'undo') {
    const left = undo.length + (pagedUndo?.entries ?? 0) - 1;
    const what =
      phase === 'waitingToRetry'
        ? `${agent} failed to ${operation} (${path}), and gets the next request at ${time}`
        : `waits for ${agent} to ${operation} (${path})`;
    return `undoes what was done: ${what}${left > 0 ? `; ${left} more to undo` : ''}`;
  }
  if (mode === 'confirm')
    return `the outcome of ${path} is unknown: ${phase === 'waitingToRetry' ? `${agent} gets the next request at ${time}` : `waits until ${time} for ${agent} to report it`}`;
  if (mode === 'cancel') return `waits until ${time} for ${agent} to answer ${request}, which is canceled`;
  if (phase === 'failedForNow') return `${agent} could not do ${request} for now, and gets the next request at ${time}`;
  if (phase !== 'requested') return undefined;
  return `waits for ${agent} to answer ${request} until ${time}`;
}

const dayMs = 24 * 3_600_000;

/** Returns a time as "12:03:20", with its date if that is not today, or if `now` is missing. */
function timeText(at: number, now: number | undefined): string {
  if (!Number.isFinite(at)) return 'some time';
  const text = `${new Date(at).toISOString().slice(0, 19)}Z`;
  return now !== undefined && Math.floor(at / dayMs) === Math.floor(now / dayMs) ? text.slice(11, 19) : text;
}

/** Returns "20 s", "5 min" or "3 h" from now, or "until 2026-01-31T12:03:20Z" without `now`. */
function lengthText(until: number, now: number | undefined): string {
  if (now === undefined) return `until ${timeText(until, now)}`;
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
