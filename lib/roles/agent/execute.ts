import { PermanentFailure, TransientFailure, UnprocessableMessage } from '#authoring/fault';
import { issuesOf } from '#authoring/schema';
import { isProgrammingError, reasonOf } from '#core/data/thrown';
import type { Request } from '#ports/messages';
import type { IntentLog } from '#ports/store';
import { inLinearTime } from '#ports/util/validation';
import type { Permit } from './circuit-guard.ts';
import { failed, givenUp, isTransientFault, outcomeUnknown, type Result, refusalOf, resultOf } from './results.ts';
import { type busy, callOf, inTime, mayBeDone, reportError, type Tools, type Work, withoutSecrets, withRetries } from './retry.ts';

export interface ExecuteTools extends Tools {
  readonly intents: IntentLog;
}

/** The reply to a request; `busy` if the service may not be called now. Undefined: the deadline is over, or another delivery will reply. */
type Answer = Result | typeof busy | undefined;

/** Returns the reply to a request: from the operation, from a lookup at the service, or from the recorded intent. */
export async function execute(work: Work, tools: ExecuteTools): Promise<Answer> {
  const { agent, request, operation } = work;
  if (request.confirming && operation.lookup) return lookUp(work, notDone, tools);
  if (request.confirming && operation.atMostOnce) return outcomeUnknown('Only the service knows whether the step was done. Check there.');

  const input = inLinearTime(operation.input).safeParse(request.input);
  const problem = input.success ? undefined : `Invalid input for ${agent}.${request.operation}: ${issuesOf(input.error)}.`;
  const run = (repeated: boolean): Promise<unknown> =>
    withoutSecrets(work, () => operation.run(input.data as never, callOf(work, { repeated }) as never));
  if (operation.atMostOnce) return runOnce(work, problem === undefined ? run : refused(problem, false), tools);
  if (problem !== undefined) return refused(problem, mayBeDone(work));
  return withRetries(work, async (_, repeated) => resultOf(await inTime(run(repeated), work.deadline), operation), tools);
}

/** Returns a refusal by the agent itself. `outcomeUnknown`: an earlier request may have had the effect. */
const refused = (message: string, outcomeUnknown: boolean): Result =>
  failed({ type: 'RequestRefused', message, permanent: true, ...(outcomeUnknown ? { outcomeUnknown } : {}) });

/**
 * Returns the reply to a request for an unknown operation. The failure is not permanent: the scheduler knows the operation, so it
 * and the agent run different versions of the app during a rollout.
 */
export const unknownOperation = ({ operation, confirming }: Request, agent: string): Result =>
  failed({
    type: 'RequestRefused',
    message: `The agent ${agent} has no operation "${operation}".`,
    permanent: false,
    ...(confirming ? { outcomeUnknown: true } : {}),
  });

const notDone = failed({ type: 'NotDone', message: 'The service has no record that this step was done.', permanent: true });

/** Asks the service whether the effect exists. Returns `otherwise` if it does not. */
function lookUp(work: Work, otherwise: Result, tools: Tools): Promise<Result | typeof busy> {
  const { request, operation, deadline } = work;
  const ask = () => withoutSecrets(work, () => operation.lookup?.(request.idempotencyKey, callOf(work) as never));
  return withRetries(
    work,
    async () => {
      try {
        const found = await inTime(ask(), deadline);
        return found === undefined ? otherwise : resultOf(found, operation);
      } catch (error) {
        if (!(error instanceof PermanentFailure)) throw error;
        // A lookup that fails does not prove that the effect is absent.
        return refusalOf(error, { outcomeUnknown: true });
      }
    },
    tools,
  );
}

type Run = (repeated: boolean) => Promise<unknown>;

/**
 * Runs an at-most-once operation. A second request for the same effect gets OutcomeUnknown, unless a lookup can answer it. The
 * intent is recorded even for a request that will be refused, because an earlier request may have had the effect.
 */
async function runOnce(work: Work, run: Run | Result, tools: ExecuteTools): Promise<Answer> {
  const { agent, request, operation, deadline, stopping, canceled } = work;
  // After the deadline the intent is not recorded: a later attempt may have begun already.
  if (deadline.isOver()) return undefined;
  const note = await tools.intents.recordIntent(request);
  if (note.outcome === 'refused') {
    if (note.requestId !== request.requestId) return operation.lookup ? lookUp(work, requestedBefore, tools) : requestedBefore;
    const { orderId, requestId } = request;
    tools.telemetry.count('duplicateRequest');
    tools.telemetry.log('debug', 'ignored duplicate delivery of a request', { orderId, requestId, agent });
    return undefined;
  }

  let sent = false;
  const tryIt = async (run: Run, permit: Permit, repeated: boolean): Promise<Result> => {
    try {
      sent = true;
      const result = resultOf(await inTime(run(repeated), deadline), operation);
      // A service that answers with a transient fault has done nothing.
      if (isTransientFault(result)) sent = false;
      return result;
    } catch (error) {
      if (error instanceof UnprocessableMessage || (error instanceof TransientFailure && error.nothingSent)) sent = false;
      if (!sent || error instanceof PermanentFailure) throw error;
      const isStopped = stopping?.aborted === true;
      if (isStopped || canceled.aborted || isProgrammingError(error)) permit.release();
      else await permit.failed();
      // A host that stops leaves the operation running, so the agent must not answer that the operation was canceled.
      if (canceled.aborted && !isStopped) return givenUp;
      const result = outcomeUnknown(`${reasonOf(error)} The step may have been done, so the agent does not try it again.`);
      if (!isStopped) reportError(error, work, { does: 'replies', result }, tools);
      return result;
    }
  };
  try {
    const result = typeof run === 'function' ? await withRetries(work, (permit, repeated) => tryIt(run, permit, repeated), tools) : run;
    return !sent && canceled.aborted ? neverSent : result;
  } finally {
    // Withdraw before the reply, so that a new request may call the service. After a cancellation the intent stays, against late
    // deliveries.
    if (!sent && !canceled.aborted) await note.withdraw();
  }
}

const neverSent = failed({ type: 'Canceled', message: 'It was canceled before anything was sent.', permanent: true });

const requestedBefore = outcomeUnknown('The step was requested before, and its outcome is unknown. The agent does not try it again.');
