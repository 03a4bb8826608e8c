import { policyDefaults } from '#roles/channels/policy';
import { type Poison, poisonIn } from '#roles/dead-letters/envelope';
import { isForged, type Law, on, type Setting } from './law.ts';

const { maxFailures } = policyDefaults;

/** As many as can have failed of what belongs together, at the most: so often it was delivered. */
class Deliveries {
  private readonly counts = new Map<string, number>();

  came(queue: string, messageId: string, body: string): void {
    const conversation = conversationIn(queue, messageId, body);
    this.counts.set(conversation, this.of(conversation) + 1);
  }

  of(conversation: string): number {
    return this.counts.get(conversation) ?? 0;
  }
}

/**
 * F-108, S25: what is given up has failed itself, it or another message of its conversation, and often enough; and whoever asked is
 * told so, in time, and of nothing else.
 */
export function givenUp(setting: Pick<Setting, 'now' | 'toleranceMs' | 'forgedWord'>): Law {
  const { now, toleranceMs } = setting;
  const deliveries = new Deliveries();
  /** Askings that were given up: those who wait may be told. */
  const ended = new Set<string>();
  const told = new Set<string>();
  return {
    name: 'given up',
    after: on(['delivered', 'sent', 'dead-lettered', 'acknowledged'], (observation) => {
      switch (observation.type) {
        case 'delivered': {
          const { queue, messages } = observation;
          for (const { messageId, body } of messages) deliveries.came(queue, messageId, body);
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
            return wrongIn(poison, deliveries);
          }
          const rejected = queue.endsWith('-replies') && !isForged(body, setting) ? rejectedIn(body) : undefined;
          if (rejected === undefined) return undefined;
          told.add(rejected);
          return ended.has(rejected) ? undefined : `${rejected} is told to be given up, and was only delivered too often`;
        }
        default: {
          const asking = askingIn(envelopeIn(observation.queue, observation.body));
          const isUntold = asking && !told.has(asking.requestId) && asking.completeBy > now() + toleranceMs;
          return isUntold ? `${asking.requestId} is given up, and nobody says so to who asked` : undefined;
        }
      }
    }),
  };
}

function wrongIn({ queue, messageId, body, reason, failures }: Poison, deliveries: Deliveries): string | undefined {
  const [, times] = /^Processing (?:failed|began) (\d+) times/.exec(reason) ?? [];
  if (times === undefined) return undefined;
  const came = deliveries.of(conversationIn(queue, messageId, body));
  if (Number(times) !== failures || failures <= maxFailures)
    return `${messageId} of ${queue} is given up after ${failures} failures: ${reason}`;
  return failures > came ? `${messageId} of ${queue} is given up after ${failures} failures, and came only ${came} times` : undefined;
}

const envelopeIn = (queue: string, body: string): Poison | undefined =>
  queue.endsWith('-dead') ? poisonIn(body, queue.replace(/-dead$/, '')) : undefined;

type Said = { readonly [field: string]: unknown };

function saidIn(body: string): Said {
  try {
    return (JSON.parse(body) ?? {}) as Said;
  } catch {
    return {};
  }
}

const requestIn = (body: string): string | undefined => textOf(saidIn(body)['requestId']);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The requests and the replies of one step are one conversation. */
function conversationIn(queue: string, messageId: string, body: string): string {
  const { client, idempotencyKey, orderId, path } = saidIn(body);
  const parts = queue === 'submissions' ? [client, idempotencyKey] : queue === 'wake-ups' ? [orderId] : [orderId, path];
  const names = parts.map(textOf);
  const channel = queue.replace(/-(requests|replies)$/, '');
  return [channel, ...(names.includes(undefined) ? [messageId] : names)].join(' ');
}

function rejectedIn(body: string): string | undefined {
  const { type, requestId, result } = saidIn(body);
  return type === 'reply' && (result as Said | undefined)?.['status'] === 'rejected' ? textOf(requestId) : undefined;
}

/** A request that says enough of itself to be answered. */
function askingIn(poison: Poison | undefined): { readonly requestId: string; readonly completeBy: number } | undefined {
  if (!poison?.queue.endsWith('-requests')) return undefined;
  const { type, requestId, orderId, path, attempt, epoch, completeBy } = saidIn(poison.body);
  const isWhole = [requestId, orderId, path, completeBy].every((field) => textOf(field)) && [attempt, epoch].every(Number.isInteger);
  return type === 'request' && isWhole ? { requestId: String(requestId), completeBy: Date.parse(String(completeBy)) } : undefined;
}
