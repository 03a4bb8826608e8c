import type { StepReply } from '#core/data/event';
import { UnreadableMessageError } from '#ports/errors';
import { agentOfReplies, namesItsAttempt, newerProblem, type Reply, ToAgent, ToScheduler } from '#ports/messages';
import type { Incoming } from './types.ts';

/** A message for an agent. What is wrong with one is not said: the parsers quote what they were given, and it may be secret. */
export function agentMessageIn(body: string): ToAgent {
  const given = parsed(body);
  const message = ToAgent.safeParse(given).data;
  if (!message) throw newerProblem(given) ?? new UnreadableMessageError('This is no message for an agent.');
  return message;
}

/** A message for the scheduler, for whom it is and what it says; undefined when it is none. */
export function parseIncoming(body: string, queue: string): { readonly orderId: string; readonly incoming: Incoming } | undefined {
  const message = ToScheduler.safeParse(parsed(body)).data;
  if (!message) return undefined;
  const { orderId } = message;
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

/** Why `parseIncoming` knows nothing of a message. */
export const noMessage = (body: string): Error =>
  newerProblem(parsed(body)) ?? new UnreadableMessageError('This is no message for the scheduler.');

/** What an agent says of a fault counts, but not how it is classed: that follows from what the workflow declares. */
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

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};
