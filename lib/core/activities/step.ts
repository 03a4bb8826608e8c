import { problems } from '#core/checks/step-problems';
import { engineFault, engineFaults, type Fault, type FaultDetails } from '#core/data/fault';
import type { Json } from '#core/data/json';
import type { RuledUndo } from '#core/data/state';
import { awaitsReply, type StepMemo, type StepState } from '#core/data/step-state';
import type { ActivityBase, Template } from '#core/definition/definition';
import { fingerprint } from '#core/definition/fingerprint';
import { type Behavior, type Context, close, type Next, noChildren, raise, succeeded, wait } from '#core/engine/behavior';
import { pauseBeforeRetry, repliedWhileCompensating } from '#core/engine/confirmation';
import { failWithoutRequest, inputIn, requestAgain, requestAttempt, timeIsOver } from '#core/engine/step-attempts';
import { brief, refusedAnswer, rejection } from '#core/engine/step-replies';

/** An activity that sends requests: a step, or a call. */
export interface RemoteStep extends ActivityBase {
  readonly agent: string;
  readonly operation: string;
  readonly input: Template;
  /** The effect of the step is meant to stay when an enclosing scope is compensated. The step has no undo and needs none. */
  readonly noUndo?: true;
  /** Seconds for one attempt. */
  readonly completeWithinSeconds?: number;
  /** Seconds for all attempts of the step together. */
  readonly withinSeconds?: number;
  /** The most seconds that one attempt can take with heartbeats, counted from its request. */
  readonly longestSeconds?: number;
  /** The operation is requested at most once, because the service does not recognize a repeated idempotency key. */
  readonly atMostOnce?: boolean;
  /** The condition that the output must meet. Any other output raises the fault `InvalidReply`. */
  readonly expects?: Expectation;
  /** The agent can look up by idempotency key whether the effect exists. */
  readonly lookup?: boolean;
  /** Faults that the operation declares, with their ancestors: `Refused/CardDeclined`. */
  readonly faults?: readonly string[];
  /** The details of declared faults, by type with ancestors. A fault without details has no entry. */
  readonly faultDetails?: { readonly [type: string]: FaultDetails };
  /** Names of the objects that the operation reads, with fields of its input or output: `stock/{sku}`. */
  readonly reads?: readonly string[];
  /** Names of the objects that the operation writes. */
  readonly writes?: readonly string[];
  /** JSON pointers to the secret parts of the output. */
  readonly secretOutput?: readonly string[];
}

/** A condition that an output must meet. It reads the output under the step's own name. */
export interface Expectation {
  readonly condition: Template;
  /** The condition in words, for the message of the fault. */
  readonly what: string;
}

export interface Step extends RemoteStep {
  /** Present if a rule has given this undo to its step: the rule's condition and input replace `input`. Never in a definition. */
  readonly ruled?: RuledUndo;
  readonly activity: 'step';
}

/** Requests one operation from an agent and waits for its reply. */
export const step: Behavior<RemoteStep, StepState> = {
  children: noChildren,
  answers: true,
  problems,
  templates: ({ input, expects }) => [input, ...(expects ? [expects.condition] : [])],

  execute: begin,

  repeat(step, local, context) {
    const { phase, generation, attempt, input, reason } = local;
    if (phase === 'impossible') return wait({ ...local, epoch: context.epoch });
    // The step sent no request, so the memo of its earlier runs still decides.
    if (attempt === 0 && context.memo) return begin(step, context);
    if (local.mode) return requestAgain(step, local, context);
    const limit = awaitsReply(local) ? local.limit : undefined;
    if (limit !== undefined && context.at >= limit) return timeIsOver(step, local);
    return phase === 'refused'
      ? requestAttempt(step, generation + 1, attempt + 1, context, { newKey: true })
      : requestAttempt(step, generation, attempt + 1, context, { input, limit, reason });
  },

  replied(step, local, reply, context) {
    if (local.mode === 'undo' || local.mode === 'confirm') return repliedWhileCompensating(local, reply, context);
    // The step blocked the order because its outcome was unknown. A late success settles the outcome.
    const isDoneAfterAll = local.phase === 'unknown' && reply.status === 'succeeded';
    if (local.mode === 'cancel' || (local.phase !== 'requested' && !isDoneAfterAll)) return undefined;
    if (reply.status === 'rejected') {
      return raise(rejection(reply), { ...local, phase: reply.outcomeUnknown ? 'unknown' : 'refused' });
    }
    if (reply.status === 'succeeded') {
      const refused = refusedAnswer(step, reply.output, context);
      return refused ? raise(refused, { ...local, phase: 'unknown' }) : close(succeeded(reply.output));
    }
    if (reply.fault.permanent) return raise(reply.fault, { ...local, phase: reply.fault.outcomeUnknown ? 'unknown' : 'refused' });

    return { ...raise(reply.fault, { ...local, phase: 'failedForNow', reason: brief(reply.fault) }), onlyIfHandled: true };
  },

  woken(step, local, context) {
    if (local.limit !== undefined && local.mode === undefined && awaitsReply(local) && context.at >= local.limit)
      return timeIsOver(step, local);
    if (local.mode !== 'undo' && local.mode !== 'confirm') return undefined;
    if (context.at < local.completeBy || local.phase === 'impossible') return undefined;
    return local.phase === 'waitingToRetry' ? requestAgain(step, local, context) : pauseBeforeRetry(local, context);
  },
  wakeAt: ({ mode, phase, completeBy, limit }) => (mode ? (phase !== 'undoing' && phase !== 'impossible' ? completeBy : undefined) : limit),
  // `since` and `until` do not move: the suspension does not stop the agent's work.
  postponed: (local, byMs) => ({
    ...local,
    completeBy: local.completeBy + byMs,
    ...(local.limit === undefined ? {} : { limit: local.limit + byMs }),
  }),
};

/**
 * Starts a step. In a later run of an enclosing retry, a step that is done is not requested again. A step with an unknown
 * outcome is requested again under its former key.
 */
function begin(step: RemoteStep, context: Context): Next<StepState> {
  const { memo } = context;
  if (!memo) return requestAttempt(step, context.firstGeneration, 1, context);
  if (memo.outcome === 'refused' || memo.outcome === 'undone') return requestAttempt(step, memo.generation + 1, 1, context);

  const input = inputIn(step, context);
  if (!input.ok) return failWithoutRequest(input.fault, { generation: memo.generation, attempt: 0 }, context);
  if (hasOtherInput(memo, input.value)) return replaceFormerRun(step, memo, context);
  if (memo.outcome === 'done') return close(succeeded(memo.output));
  return requestAttempt(step, memo.generation, memo.attempt + 1, context, { input: memo.input });
}

const hasOtherInput = ({ outcome, inputHash, input: openInput }: StepMemo, input: Json): boolean => {
  const before = outcome === 'open' && openInput !== undefined ? fingerprint(openInput) : inputHash;
  return before !== undefined && before !== fingerprint(input);
};

/**
 * Replaces the effect of an earlier run that had another input, because one key has one input. The earlier effect is
 * confirmed and undone before the step is requested with its new input.
 */
function replaceFormerRun(step: RemoteStep, { outcome, generation, attempt }: StepMemo, context: Context): Next<StepState> {
  // The earlier effect is meant to stay, so the new input is a further effect.
  if (outcome === 'done' && step.noUndo) return requestAttempt(step, generation + 1, 1, context);
  if (outcome === 'done' && !step.undo) return failWithoutRequest(inputChanged(context.path), { generation, attempt: 0 }, context);
  const { epoch, at } = context;
  return { verb: 'replaceFormer', state: { generation, attempt, epoch, since: at, completeBy: at, phase: 'unknown' } };
}

export const inputChanged = (path: string): Fault =>
  engineFault(
    engineFaults.inputChanged,
    `${path} was done with another input in an earlier run, and has no undo. Give it an undo, .undo(…), or declare that its effect stays: .noUndo().`,
  );

/**
 * Whether the supervisor counts the step as late when it is overdue. If the time for all attempts ends with this attempt,
 * the step has a fault instead, and is not counted.
 */
export const isCounted = ({ mode, completeBy, limit }: StepState): boolean =>
  mode === undefined && (limit === undefined || completeBy < limit);
