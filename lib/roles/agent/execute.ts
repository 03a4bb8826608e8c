import { PermanentFailure, TransientFailure, UnprocessableMessage } from '#authoring/fault';
import type { Request } from '#ports/messages';
import type { IntentLog } from '#ports/store';
import type { Permit } from './circuit-guard.ts';
import { failed, givenUp, isBusy, issuesOf, messageOf, outcomeUnknown, type Result, refusalOf, resultOf } from './results.ts';
import { type busy, callOf, inTime, mayBeDone, type Tools, type Work, withRetries } from './retry.ts';

export interface ExecuteTools extends Tools {
  readonly intents: IntentLog;
}

/** Nothing at all: another delivery of the same message is at work, and answers. */
type Answer = Result | typeof busy | undefined;

/** What a request is answered with: by the operation, by what the service knows of its key, or by what was noted of it. */
export async function execute(work: Work, tools: ExecuteTools): Promise<Answer> {
  const { agent, request, operation } = work;
  if (request.confirming && operation.lookup) return lookUp(work, notDone, tools);
  if (request.confirming && operation.atMostOnce) return outcomeUnknown('Nobody but the service knows whether it was done.');

  const input = operation.input.safeParse(request.input);
  const problem = input.success ? undefined : `The input of ${agent}.${request.operation} is not what it takes: ${issuesOf(input.error)}.`;
  const run = async (repeated: boolean): Promise<unknown> => operation.run(input.data as never, callOf(work, { repeated }) as never);
  if (operation.atMostOnce) return once(work, problem === undefined ? run : refused(problem, false), tools);
  if (problem !== undefined) return refused(problem, mayBeDone(work));
  return withRetries(work, async (_, repeated) => resultOf(await inTime(run(repeated), work.deadline), operation), tools);
}

/** The agent itself refuses. Of what may have been done before it says nothing by that. */
const refused = (message: string, outcomeUnknown: boolean): Result =>
  failed({ type: 'RequestRefused', message, permanent: true, ...(outcomeUnknown ? { outcomeUnknown } : {}) });

/** Whoever asks has the operation, or could not have been loaded: while the app is changed, its parts differ. So not for good. */
export const notHere = ({ operation, confirming: settling }: Request, agent: string): Result =>
  failed({
    type: 'RequestRefused',
    message: `The agent ${agent} has no operation "${operation}".`,
    permanent: false,
    ...(settling ? { outcomeUnknown: true } : {}),
  });

const notDone = failed({ type: 'NotDone', message: 'The service knows of no such thing.', permanent: true });

/** Asks the service whether the effect exists; where it does not, the answer is `otherwise`. */
function lookUp(work: Work, otherwise: Result, tools: Tools): Promise<Result | typeof busy> {
  const { request, operation, deadline } = work;
  const ask = async () => operation.lookup?.(request.idempotencyKey, callOf(work) as never);
  return withRetries(
    work,
    async () => {
      try {
        const found = await inTime(ask(), deadline);
        return found === undefined ? otherwise : resultOf(found, operation);
      } catch (error) {
        if (!(error instanceof PermanentFailure)) throw error;
        // Not to be told is not to be told "no".
        return refusalOf(error, { outcomeUnknown: true });
      }
    },
    tools,
  );
}

type Run = (repeated: boolean) => Promise<unknown>;

/**
 * Runs what may be asked for only once; asked again, it says that nobody knows, unless the service can tell. The note of an earlier
 * asking comes before anything else: what is refused now may have been done then.
 */
async function once(work: Work, run: Run | Result, tools: ExecuteTools): Promise<Answer> {
  const { agent, request, operation, deadline, stopping, canceled } = work;
  // Not even noted: the next asking may be at work beside it.
  if (deadline.isOver()) return undefined;
  const note = await tools.intents.recordIntent(request);
  if (note.outcome === 'refused') {
    if (note.requestId !== request.requestId) return operation.lookup ? lookUp(work, requestedBefore, tools) : requestedBefore;
    const { orderId, requestId } = request;
    tools.telemetry.count('duplicateRequest');
    tools.telemetry.log('debug', 'delivered twice: left to the first delivery', { orderId, requestId, agent });
    return undefined;
  }

  let sent = false;
  const tryIt = async (run: Run, permit: Permit, repeated: boolean): Promise<Result> => {
    try {
      sent = true;
      const result = resultOf(await inTime(run(repeated), deadline), operation);
      // "Not now" is an answer, too: nothing was done.
      if (isBusy(result)) sent = false;
      return result;
    } catch (error) {
      if (error instanceof UnprocessableMessage || (error instanceof TransientFailure && error.nothingSent)) sent = false;
      if (!sent || error instanceof PermanentFailure) throw error;
      const isStopped = stopping?.aborted === true;
      if (isStopped || canceled.aborted) permit.release();
      else await permit.failed(request.orderId);
      // A host that stops leaves the operation at work, so the agent must not answer that it was canceled.
      return canceled.aborted && !isStopped ? givenUp : outcomeUnknown(`${messageOf(error)} It is not asked again: it may have been done.`);
    }
  };
  try {
    const result = typeof run === 'function' ? await withRetries(work, (permit, repeated) => tryIt(run, permit, repeated), tools) : run;
    return !sent && canceled.aborted ? neverSent : result;
  } finally {
    // Before it is answered: who asks again then may. What was canceled must not be begun by a delivery that comes late.
    if (!sent && !canceled.aborted) await note.withdraw();
  }
}

const neverSent = failed({ type: 'Canceled', message: 'It was canceled before anything was sent.', permanent: true });

const requestedBefore = outcomeUnknown('It was asked for before, and nobody knows whether it was done. It is not asked again.');
