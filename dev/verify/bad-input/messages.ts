import { setTimeout as sleep } from 'node:timers/promises';
import type { Embedded } from '#adapters/sqlite/open';
import { collections } from '#ports/documents';
import { queueNames } from '#ports/messages';
import { serviceNames } from '../../../examples/shop/services.ts';
import { corpus, agent as corpusAgent, jsonIn, kindNames, type Malformed } from '../../../test/roles/dead-letters/corpus.ts';
import { changedIn, type Stored, storedIn } from './stored.ts';

/**
 * Malformed messages for the agents of the sample app. Left out are messages that wait for a newer version, and heartbeats, which are
 * dropped.
 */
export function malformedOf(count: number, seed: number): readonly Malformed[] {
  const isMeant = ({ body }: Malformed): boolean => {
    const { v, type } = (jsonIn(body) ?? {}) as { readonly v?: unknown; readonly type?: unknown };
    return !(typeof v === 'number' && v > 1) && type !== 'heartbeat';
  };
  return corpus(2 * count, seed)
    .filter(isMeant)
    .slice(0, count)
    .map((each, index) => {
      const agent = serviceNames[index % serviceNames.length] ?? 'payment';
      if (each.queue === queueNames.requests(corpusAgent)) return { ...each, queue: queueNames.requests(agent) };
      return each.queue === queueNames.replies(corpusAgent) ? { ...each, queue: queueNames.replies(agent) } : each;
    });
}

const listedMax = 100_000;

/** Counts the dead letters of the sample app's channels. Waits until there are `count`, for a minute at most. */
export async function deadLettersIn({ store }: Embedded, count: number): Promise<number> {
  const channels = [...serviceNames, queueNames.submissions, queueNames.wakeUps];
  for (let looks = 0; ; looks++) {
    const found = await Promise.all(channels.map((channel) => store.documents(collections.deadLetters(channel), undefined, listedMax)));
    const all = found.flat().length;
    if (all >= count || looks === 60) return all;
    await sleep(1000);
  }
}

export interface Flooded {
  readonly wrong: readonly string[];
  readonly sent: number;
  /** Messages that an existing order does not expect. */
  readonly unexpected: number;
  readonly deadLetters: number;
  readonly kinds: { readonly [kind: string]: number };
}

/** Tables that dead letters and their announcements change. */
const changedByDeadLetters = ['documents', 'announcements', 'messages'];

/** Sends malformed and unexpected messages to every queue. No order may change, and every malformed message must be kept. */
export async function floodQueues(
  system: Embedded,
  { orderId, count, seed }: { readonly orderId: string; readonly count: number; readonly seed: number },
): Promise<Flooded> {
  const { database, queues } = system;
  const before = storedIn(database);
  const present = await deadLettersIn(system, 0);
  const malformed = malformedOf(Math.ceil(0.8 * count), seed);
  const unexpected = unexpectedFor(orderId, count - malformed.length);
  const all = malformed.flatMap((each, index) => [each, ...(index % 4 === 0 ? unexpected.slice(index / 4, index / 4 + 1) : [])]);
  for (let at = 0; at < all.length; at += 10) await queues.send(all.slice(at, at + 10).map(({ queue, body }) => ({ queue, body })));
  const deadLetters = (await deadLettersIn(system, present + malformed.length)) - present;
  const left = await leftIn(database);
  const kinds = Object.fromEntries(kindNames.map((name) => [name, malformed.filter(({ kind }) => kind === name).length]));
  return {
    wrong: [
      ...changedIn(before, storedIn(database) satisfies Stored, changedByDeadLetters),
      ...(deadLetters === malformed.length ? [] : [`${deadLetters} of ${malformed.length} malformed messages are dead letters`]),
      ...(left === 0 ? [] : [`${left} messages are still in their queues`]),
    ],
    sent: all.length,
    unexpected: unexpected.length,
    deadLetters,
    kinds,
  };
}

/** Replies, heartbeats and cancellations of attempts that an order does not have. They are well-formed. */
function unexpectedFor(orderId: string, count: number): readonly Malformed[] {
  const completeBy = new Date(Date.now() + 60_000).toISOString();
  return Array.from({ length: count }, (_, index) => {
    const [path, attempt, epoch] = ['order/ship', 1 + (index % 7), 50 + index];
    const about = { v: 1, requestId: `${orderId}/${path}/1#${epoch}.${attempt}`, orderId, path };
    const sentAt = new Date().toISOString();
    const all = [
      { type: 'reply', attempt, epoch, sentAt, result: { status: 'succeeded', output: { shipmentId: 's', trackingNumber: 't' } } },
      { type: 'reply', attempt, epoch, sentAt, result: { status: 'failed', fault: { type: 'Forged', message: 'm', permanent: true } } },
      { type: 'reply', attempt, epoch, sentAt, result: { status: 'rejected', code: 500, message: 'Unable to process message.' } },
      { type: 'heartbeat', attempt, epoch, sentAt, completeBy },
      { type: 'cancel', idempotencyKey: `${orderId}/${path}/9` },
    ];
    const message = all[index % all.length] as { readonly type: string };
    const queue = message.type === 'cancel' ? queueNames.requests('shipping') : queueNames.replies('shipping');
    return { kind: 'unexpected', queue, body: JSON.stringify({ ...about, ...message }) };
  });
}

/** Waits until the queues are empty, for half a minute at most, and returns the number of messages left. */
export async function leftIn(database: Embedded['database']): Promise<number> {
  const messages = database.prepare('SELECT count(*) AS count FROM messages');
  for (let looks = 0; ; looks++) {
    const { count } = messages.get() as { readonly count: number };
    if (count === 0 || looks === 60) return count;
    await sleep(500);
  }
}
