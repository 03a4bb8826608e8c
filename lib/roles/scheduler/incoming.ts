import type { StepReply } from '#core/data/event';
import { UnreadableMessageError } from '#ports/errors';
import { agentOfReplies, namesItsAttempt, newerProblem, type Reply, ToAgent, ToScheduler } from '#ports/messages';
import { jsonIn } from '#ports/util/json';
import type { Incoming } from './types.ts';

/** Parses a message for an agent. The error gives no details, because parsers quote their input and it may be secret. */
export function agentMessageIn(body: string): ToAgent {
  const given = jsonIn(body);
  const message = ToAgent.safeParse(given).data;
  if (!message) throw newerProblem(given) ?? new UnreadableMessageError('This is not a valid message for an agent.');
  return message;
}

/** Parses a message for the scheduler into its order id and its content; returns undefined for any other message. */
export function parseIncoming(body: string, queue: string): { readonly orderId: string; readonly incoming: Incoming } | undefined {
  const message = ToScheduler.safeParse(jsonIn(body)).data;
  if (!message) return undefined;
  const { orderId } = message;
  if (message.type === 'wake-up' && message.handled) {
    const { handled } = message;
    return { orderId, incoming: { id: `handled@${handled.seq}`, type: 'handled', ...handled } };
  }
  if (message.type === 'wake-up' && message.inconsistency) {
    const { inconsistency } = message;
    return { orderId, incoming: { id: inconsistency.id, type: 'inconsistent', inconsistency } };
  }
  if (message.type === 'wake-up' && message.unattended) return { orderId, incoming: { type: 'unattended', ...message.unattended } };
  if (message.type === 'wake-up') return { orderId, incoming: { id: `wake-up@${message.sentAt}`, type: 'wake-up' } };

  const agent = agentOfReplies(queue);
  if (agent === undefined || !namesItsAttempt(message)) return undefined;
  const { requestId } = message;
  if (message.type === 'heartbeat')
    return {
      orderId,
      incoming: {
        id: `${requestId}@${message.completeBy}`,
        type: 'heartbeat',
        requestId,
        agent,
        completeBy: Date.parse(message.completeBy),
      },
    };
  return {
    orderId,
    incoming: { id: requestId, type: 'reply', requestId, agent, sentAt: Date.parse(message.sentAt), reply: replyOf(message.result) },
  };
}

/** Returns the error for a message that `parseIncoming` rejects. */
export const invalidMessage = (body: string): Error =>
  newerProblem(jsonIn(body)) ?? new UnreadableMessageError('This is not a valid message for the scheduler.');

/** Converts an agent's result. The agent does not choose the class of a fault: the class follows from the workflow. */
const replyOf = (result: Reply['result']): StepReply => {
  if (result.status === 'succeeded') return result;
  if (result.status === 'rejected') {
    const { message, deadLetter, outcomeUnknown } = result;
    return {
      status: 'rejected',
      message,
      ...(deadLetter === undefined ? {} : { deadLetter }),
      ...(outcomeUnknown ? { outcomeUnknown } : {}),
    };
  }
  const { outcomeUnknown, data, ...fault } = result.fault;
  return {
    status: 'failed',
    fault: {
      ...fault,
      class: 'unexpected',
      ...(outcomeUnknown === undefined ? {} : { outcomeUnknown }),
      ...(data === undefined ? {} : { data }),
    },
  };
};
