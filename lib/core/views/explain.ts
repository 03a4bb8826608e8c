import { localOf, stepOf } from '#core/activities/index';
import { engineFaults, type Fault, isQuestion, shortType } from '#core/data/fault';
import { undonePath } from '#core/data/ids';
import { isObject } from '#core/data/json';
import type { ActivityState, Outcome, State } from '#core/data/state';
import { awaitsReply, type StepState } from '#core/data/step-state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program } from '#core/definition/program';

/** Returns the id of the order that a call has started. */
type ChildOf = (path: string, generation: number) => string;

/** Explains an order's current state in one sentence for a person. Times are UTC; with `now` they are as short as possible. */
export function explain(program: Program, state: State, now?: number, childOf?: ChildOf): string {
  if (state.phase === 'initialized') return 'Waits to be started.';
  if (state.phase === 'closed') return endings[state.outcome ?? 'completed'];
  if (state.blocked) return blockedText(state, state.blocked);
  if (state.suspendedAt !== undefined) return suspendedText(state, timeText(state.suspendedAt, now));

  const waits = Object.keys(state.activities).flatMap((path) => waitOf(program, state, path, now, childOf) ?? []);
  const shown = waits.slice(0, shownMax);
  const more = waits.length - shown.length;
  const text = [...shown, ...(more > 0 ? [`${more} more like these`] : [])].join('; ');
  if (state.ending) return `${state.ending.outcome === 'canceled' ? 'Canceled' : 'To be undone'}: ${text}.`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

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
  return `Suspended by an operator at ${since}: its time stands still, and no activity starts until it is resumed${kept}.`;
}

function blockedText({ activities }: State, { path, fault }: NonNullable<State['blocked']>): string {
  const others = Object.entries(activities).filter(([each, { awaitsPerson: waits }]) => waits && each !== path);
  const next = others.map(([each, { fault }]) => `${reasonText(fault)} at ${each}`);
  const after = next.length > 0 ? `; after that, for ${next.join(' and ')}` : '';
  if (isQuestion(fault))
    return after === ''
      ? `Waits for a person to answer ${path}: ${fault.message}`
      : `Waits for a person to answer: ${fault.message} (${path})${after}.`;
  const unknown = fault.outcomeUnknown ? '; its outcome is unknown' : '';
  return `Waits for a person: ${shortType(fault.type)} at ${path}${unknown}${after}.${causeText(fault, activities[path])}`;
}

/** Returns the error of the app's or the service's code behind a fault. The type of any other fault says enough. */
function causeText({ class: faultClass, type, message }: Fault, activity: ActivityState | undefined): string {
  const { reason } = (activity?.local ?? {}) as Partial<StepState>;
  const isLate = type === engineFaults.deadlineExceeded && reason !== undefined;
  return faultClass === 'application-failure' || faultClass === 'unexpected' || isLate ? ` ${message}` : '';
}

/** Returns the reason why a blocked activity waits for a person. */
const reasonText = (fault: Fault | undefined): string =>
  fault === undefined ? 'a fault' : isQuestion(fault) ? 'an answer' : shortType(fault.type);

/** Returns what one activity waits for; undefined if other activities have to continue first. */
function waitOf(program: Program, state: State, path: string, now: number | undefined, childOf?: ChildOf): string | undefined {
  const activity = state.activities[path];
  const node = nodeAt(program, path);
  const step = stepOf(node, activity);
  if (node.activity === 'call' && step && step.mode === undefined && awaitsReply(step)) return callText(node, path, step, childOf);
  if (isRemote(node)) return step && stepText(node, state, path, step, now);
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

/** Returns the end of a pause, which a built-in or a custom activity keeps as `until`. */
function untilOf(activity: ActivityState | undefined): number | undefined {
  const until = isObject(activity?.local) ? activity.local['until'] : undefined;
  return typeof until === 'number' ? until : undefined;
}

/** A called order may take any time, so the text omits the caller's next query. */
const callText = ({ operation }: { readonly operation: string }, path: string, { generation }: StepState, childOf?: ChildOf): string =>
  `waits for ${childOf ? `the order ${childOf(path, generation)}` : 'an order'} of ${operation} at ${path}`;

function stepText(
  { agent, operation }: { readonly agent: string; readonly operation: string },
  { undo = [], pagedUndo }: State,
  path: string,
  local: StepState,
  now: number | undefined,
): string | undefined {
  const { phase, mode, attempt, completeBy } = local;
  const time = timeText(completeBy, now);
  const request = attempt > 1 ? `${path} (attempt ${attempt})` : path;
  if (phase === 'undoing') return undefined;
  if (phase === 'impossible') return `a person must see to the undo of ${undonePath(path)}: its input could not be evaluated`;
  if (mode === 'undo') {
    const left = undo.length + (pagedUndo?.entries ?? 0) - 1;
    const what =
      phase === 'waitingToRetry'
        ? `${agent} failed to ${operation} (${path}), and gets the next request at ${time}`
        : `waits for ${agent} to ${operation} (${path})`;
    return `undoes what was done: ${what}${left > 0 ? `; ${left} more to undo` : ''}`;
  }
  if (mode === 'confirm')
    return `the outcome of ${path} is unknown: ${phase === 'waitingToRetry' ? `${agent} gets the next request at ${time}` : `waits for ${agent} to say so until ${time}`}`;
  if (mode === 'cancel') return `waits for ${agent} to answer ${request}, which is canceled, until ${time}`;
  if (phase === 'failedForNow') return `${agent} could not do ${request} for now, and gets the next request at ${time}`;
  if (phase !== 'requested') return undefined;
  return `waits for ${agent} to answer ${request} until ${time}`;
}

const dayMs = 24 * 3_600_000;

/** Returns "12:03:20", with its date if the day differs from today or `now` is missing. */
function timeText(at: number, now: number | undefined): string {
  if (!Number.isFinite(at)) return 'some time';
  const [day = '', time = ''] = new Date(at).toISOString().slice(0, 19).split('T');
  return now !== undefined && Math.floor(at / dayMs) === Math.floor(now / dayMs) ? time : `${day} ${time}`;
}

/** Returns "20 s", "5 min" or "3 h" from now, or "until 2026-01-31 12:03:20" without `now`. */
function lengthText(until: number, now: number | undefined): string {
  if (now === undefined) return `until ${timeText(until, now)}`;
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
