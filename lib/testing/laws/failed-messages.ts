import { consumerOf, isDeadLetterQueue, sourceQueueOf } from '#ports/messages';
import { policyDefaults } from '#roles/channels/policy';
import { type Poison, poisonIn } from '#roles/dead-letters/envelope';
import { isForged, type Law, on, type Setting } from './law.ts';

const { maxFailures } = policyDefaults;

/** Deliveries by conversation: an upper bound of its failures. */
class Deliveries {
  private readonly counts = new Map<string, number>();
  /** The conversation of each message, noted when it is delivered: the body of a dead letter may be encrypted. */
  private readonly conversations = new Map<string, string>();

  add(queue: string, messageId: string, body: string): void {
    const conversation = conversationIn(queue, messageId, body);
    this.conversations.set(messageId, conversation);
    this.counts.set(conversation, this.of(conversation) + 1);
  }

  of(conversation: string): number {
    return this.counts.get(conversation) ?? 0;
  }

  ofMessage(messageId: string): number {
    return this.of(this.conversations.get(messageId) ?? '');
  }
}

/**
 * A message becomes a dead letter for its failures only if its conversation really failed that often (S25). The sender of
 * a request that became a dead letter gets a `rejected` reply before the deadline of the request. No other request gets one (F-108).
 */
export function failedMessages(setting: Pick<Setting, 'now' | 'toleranceMs' | 'forgedWord'>): Law {
  const { now, toleranceMs } = setting;
  const deliveries = new Deliveries();
  /** Ids of requests that became dead letters: their senders may get a `rejected` reply. */
  const ended = new Set<string>();
  /** Ids of requests whose senders got a `rejected` reply. */
  const notified = new Set<string>();
  return {
    name: 'failed messages',
    after: on(['delivered', 'sent', 'dead-lettered', 'acknowledged'], (observation) => {
      switch (observation.type) {
        case 'delivered': {
          const { queue, messages } = observation;
          for (const { messageId, body } of messages) deliveries.add(queue, messageId, body);
          return undefined;
        }
        case 'dead-lettered':
          if (observation.message.failures > maxFailures) ended.add(requestIn(observation.message.body) ?? '');
          return undefined;
        case 'sent': {
          const { queue, body } = observation;
          const poison = envelopeIn(queue, body);
          if (poison) {
            ended.add(requestIn(poison.body) ?? '');
            // Each consumer has its own policy and conversations: see `consumerNeighbors`.
            return consumerOf(poison.queue) === undefined ? wrongIn(poison, deliveries) : undefined;
          }
          const rejected = queue.endsWith('-replies') && !isForged(body, setting) ? rejectedIn(body) : undefined;
          if (rejected === undefined) return undefined;
          notified.add(rejected);
          return ended.has(rejected) ? undefined : `request ${rejected} was answered as rejected although it did not fail too often`;
        }
        default: {
          const request = completeRequestIn(envelopeIn(observation.queue, observation.body));
          const isUnanswered = request && !notified.has(request.requestId) && request.completeBy > now() + toleranceMs;
          return isUnanswered ? `request ${request.requestId} became a dead letter without a reply to its sender` : undefined;
        }
      }
    }),
  };
}

function wrongIn({ queue, messageId, reason, failures }: Poison, deliveries: Deliveries): string | undefined {
  const [, times] = /^Processing (?:failed|began) (\d+) times/.exec(reason) ?? [];
  if (times === undefined) return undefined;
  const came = deliveries.ofMessage(messageId);
  if (Number(times) !== failures || failures <= maxFailures)
    return `message ${messageId} of ${queue} became a dead letter after ${failures} failures: ${reason}`;
  return failures > came
    ? `message ${messageId} of ${queue} became a dead letter after ${failures} failures, but only ${came} deliveries`
    : undefined;
}

const envelopeIn = (queue: string, body: string): Poison | undefined =>
  isDeadLetterQueue(queue) ? poisonIn(body, sourceQueueOf(queue)) : undefined;

type Fields = { readonly [field: string]: unknown };

function fieldsIn(body: string): Fields {
  try {
    return (JSON.parse(body) ?? {}) as Fields;
  } catch {
    return {};
  }
}

const requestIn = (body: string): string | undefined => textOf(fieldsIn(body)['requestId']);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The requests and the replies of one step are one conversation. */
function conversationIn(queue: string, messageId: string, body: string): string {
  const { client, idempotencyKey, orderId, path } = fieldsIn(body);
  const parts = queue === 'submissions' ? [client, idempotencyKey] : queue === 'wake-ups' ? [orderId] : [orderId, path];
  const names = parts.map(textOf);
  const channel = queue.replace(/-(requests|replies)$/, '');
  return [channel, ...(names.includes(undefined) ? [messageId] : names)].join(' ');
}

function rejectedIn(body: string): string | undefined {
  const { type, requestId, result } = fieldsIn(body);
  return type === 'reply' && (result as Fields | undefined)?.['status'] === 'rejected' ? textOf(requestId) : undefined;
}

/** Returns a request that has all fields that a reply needs. */
function completeRequestIn(poison: Poison | undefined): { readonly requestId: string; readonly completeBy: number } | undefined {
  if (!poison?.queue.endsWith('-requests')) return undefined;
  const { type, requestId, orderId, path, attempt, epoch, completeBy } = fieldsIn(poison.body);
  const isWhole = [requestId, orderId, path, completeBy].every((field) => textOf(field)) && [attempt, epoch].every(Number.isInteger);
  return type === 'request' && isWhole ? { requestId: String(requestId), completeBy: Date.parse(String(completeBy)) } : undefined;
}
