import type { JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import { queueNames, type Reply, type Request } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { CallerRef } from '#ports/records';
import { replyTo } from '#roles/scheduler/caller-reply';

type Failure = Extract<Reply['result'], { status: 'failed' }>['fault'];

/** Sends replies to calls. */
export interface CallReplies {
  /** Sends the reply of a child; does nothing if the child has none yet. */
  send(reply: JsonObject | undefined): Promise<void>;
  succeed(request: Request): Promise<void>;
  fail(request: Request, fault: Failure): Promise<void>;
}

interface ReplyPorts {
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Pick<Clock, 'now'>;
}

export function createCallReplies({ queues, clock }: ReplyPorts): CallReplies {
  const send: CallReplies['send'] = async (reply) => {
    if (reply) await queues.send([{ queue: queueNames.callReplies, body: JSON.stringify(reply) }]);
  };
  return {
    send,
    succeed: (request) => send(replyTo(callerOf(request), { status: 'succeeded', output: {} }, clock.now())),
    fail: (request, fault) => send(replyTo(callerOf(request), { status: 'failed', fault }, clock.now())),
  };
}

/** Returns the fault of a call whose outcome only a person can find out. */
export const unknownOutcome = (message: string): Failure => ({ type: 'OutcomeUnknown', message, permanent: true, outcomeUnknown: true });

export const callerOf = ({ orderId, path, requestId, attempt, epoch }: Request): CallerRef => ({
  orderId,
  path,
  requestId,
  attempt,
  epoch,
});
