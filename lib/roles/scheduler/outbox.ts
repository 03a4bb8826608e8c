import type { Clock } from '#ports/clock';
import { isFatal } from '#ports/errors';
import type { Publisher } from '#ports/event-bus';
import type { Queues } from '#ports/queues';
import { announcedAs, type OutboxEntry, type StateRecord } from '#ports/records';
import type { SentWithWrite } from '#ports/store';
import { alertEntryOf } from '#ports/util/alert';
import type { OrderFact } from './instance.ts';

const attemptsMax = 3;
const pauseMs = 50;

/** Sends outbox entries, with short retries; resolves to the acknowledged ids. Rejects only with a fatal error. */
export async function sendEntries(
  entries: readonly OutboxEntry[],
  { queues, publisher, clock }: { queues: Pick<Queues, 'send'>; publisher: Publisher; clock: Clock },
): Promise<ReadonlySet<string>> {
  const acknowledged = new Set<string>();
  for (let attempt = 1; attempt <= attemptsMax && acknowledged.size < entries.length; attempt++) {
    if (attempt > 1) await clock.sleep(pauseMs * attempt);
    const open = entries.filter(({ id }) => !acknowledged.has(id));
    for (const id of await publishAll(open, publisher)) acknowledged.add(id);
    for (const id of await sendStatuses(open, queues)) acknowledged.add(id);
  }
  return acknowledged;
}

async function publishAll(entries: readonly OutboxEntry[], publisher: Publisher): Promise<readonly string[]> {
  const announcements = entriesAsSent(entries).announcements;
  if (announcements.length === 0) return [];
  try {
    const { failed } = await publisher.publish(announcements);
    return announcements.map(({ id }) => id).filter((id) => !failed.includes(id));
  } catch (error) {
    if (isFatal(error)) throw error;
    return [];
  }
}

/** Sends status messages in order up to the first failure: a client must not receive the end before the beginning. */
async function sendStatuses(entries: readonly OutboxEntry[], queues: Pick<Queues, 'send'>): Promise<readonly string[]> {
  const sent: string[] = [];
  for (const entry of entries) {
    if (entry.kind !== 'status') continue;
    if (!(await sendStatus(entry, queues))) break;
    sent.push(entry.id);
  }
  return sent;
}

async function sendStatus(entry: Extract<OutboxEntry, { kind: 'status' }>, queues: Pick<Queues, 'send'>): Promise<boolean> {
  try {
    await queues.send(entriesAsSent([entry]).messages);
    return true;
  } catch (error) {
    if (isFatal(error)) throw error;
    return false;
  }
}

/** Converts outbox entries to messages and announcements. */
export const entriesAsSent = (entries: readonly OutboxEntry[]): SentWithWrite => ({
  messages: entries.flatMap((entry) => (entry.kind === 'status' ? [{ queue: entry.channel, body: JSON.stringify(entry.message) }] : [])),
  announcements: entries.flatMap((entry) =>
    entry.kind === 'announcement' ? [{ id: entry.id, detailType: entry.detailType, detail: entry.detail }] : [],
  ),
});

/** After this time, messages to a missing client queue are given up, so that they do not keep the order busy. */
const undeliverableMs = 900_000;

type StatusEntry = Extract<OutboxEntry, { kind: 'status' }>;

export const isUndeliverable = (entry: OutboxEntry, now: number): entry is StatusEntry =>
  entry.kind === 'status' && entry.unproven === true && now - Date.parse(String(entry.message['at'])) >= undeliverableMs;

export const undeliverable = (givenUp: readonly StatusEntry[]): readonly OrderFact[] =>
  givenUp.map(({ channel }) => ({ type: 'ResponseUndeliverable', channel }));

/** Returns an alert about undeliverable status messages. The order continues, but its client receives nothing. */
export const noticesOf = (
  { orderId, submittedAt, processState, failureCount }: StateRecord,
  [first]: readonly StatusEntry[],
  now: number,
): readonly OutboxEntry[] => {
  if (!first) return [];
  const id = `${announcedAs({ orderId, submittedAt })}${first.id.slice(orderId.length)}/undeliverable`;
  const alert = alertEntryOf('Service Exception', {
    id,
    orderId,
    at: now,
    type: 'ResponseUndeliverable',
    source: first.channel,
    before: processState,
    after: processState,
    failureCount,
    message: `Cannot send to the response queue ${first.channel}: its client gets no status of this order. Check that the queue exists.`,
  });
  return [alert];
};
