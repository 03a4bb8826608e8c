import type { Clock } from '#ports/clock';
import type { Documents } from '#ports/documents';
import { isFatal } from '#ports/errors';
import type { Announcement, Publisher } from '#ports/event-bus';
import type { Queues } from '#ports/queues';
import { announcedAs, type OutboxEntry, type StateRecord } from '#ports/records';
import type { SentWithWrite } from '#ports/store';
import type { Tallies } from '#ports/tallies';
import { alertEntryOf } from '#ports/util/alert';
import { announcementsOf } from '#roles/exceptions/announce';
import { isCauseEntry, storeCause } from '#roles/exceptions/store';
import { isObjectsEntry, storeObjects } from '#roles/recovery/objects';
import type { OrderFact } from './instance.ts';

export interface OutboxPorts {
  readonly queues: Pick<Queues, 'send'>;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly store: Documents & Tallies;
  /** The reference of the order, for the records of its causes. */
  readonly reference?: string | undefined;
}

const attemptsMax = 3;
const pauseMs = 50;

/** Sends outbox entries, with short retries; resolves to the acknowledged ids. Rejects only with a fatal error. */
export async function sendEntries(
  entries: readonly OutboxEntry[],
  { queues, publisher, clock, store, reference }: OutboxPorts,
): Promise<ReadonlySet<string>> {
  const acknowledged = new Set<string>();
  for (let attempt = 1; attempt <= attemptsMax && acknowledged.size < entries.length; attempt++) {
    if (attempt > 1) await clock.sleep(pauseMs * attempt);
    const open = entries.filter(({ id }) => !acknowledged.has(id));
    const published = await publishAll(open, publisher);
    const stored = new Set([...(await storeCauses(open, store, reference)), ...(await storeAllObjects(open, store))]);
    for (const { id, kind } of open) if (published.has(id) && (kind === 'announcement' || stored.has(id))) acknowledged.add(id);
    for (const id of await sendStatuses(open, queues)) acknowledged.add(id);
  }
  return acknowledged;
}

/** Stores what the entries say about causes, in sequence up to the first failure: a task cannot be resolved before it is opened. */
async function storeCauses(
  entries: readonly OutboxEntry[],
  store: Documents & Tallies,
  reference: string | undefined,
): Promise<ReadonlySet<string>> {
  const stored = new Set<string>();
  for (const entry of entries) {
    if (!isCauseEntry(entry)) continue;
    try {
      await storeCause(entry, store, reference);
    } catch (error) {
      if (isFatal(error)) throw error;
      return stored;
    }
    stored.add(entry.id);
  }
  return stored;
}

/** Stores what steps have read and written. Entries may be stored in any sequence: each has its own records. */
async function storeAllObjects(entries: readonly OutboxEntry[], store: Documents): Promise<readonly string[]> {
  const stored: string[] = [];
  for (const entry of entries.filter(isObjectsEntry)) {
    try {
      await storeObjects(entry, store);
      stored.push(entry.id);
    } catch (error) {
      if (isFatal(error)) throw error;
    }
  }
  return stored;
}

/** Publishes the announcements of entries; resolves to the ids of the entries whose announcements all reached the event bus. */
async function publishAll(entries: readonly OutboxEntry[], publisher: Publisher): Promise<ReadonlySet<string>> {
  const announcements = entriesAsSent(entries).announcements;
  if (announcements.length === 0) return new Set(entries.map(({ id }) => id));
  try {
    const { failed } = await publisher.publish(announcements);
    const isPublished = (entry: OutboxEntry): boolean => announcedBy(entry).every(({ id }) => !failed.includes(id));
    return new Set(entries.filter(isPublished).map(({ id }) => id));
  } catch (error) {
    if (isFatal(error)) throw error;
    return new Set();
  }
}

/** Sends status messages in sequence up to the first failure: a client must not receive the end before the beginning. */
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
  announcements: entries.flatMap(announcedBy),
});

function announcedBy(entry: OutboxEntry): readonly Announcement[] {
  if (entry.kind === 'announcement') return [{ id: entry.id, detailType: entry.detailType, detail: entry.detail }];
  return isCauseEntry(entry) ? announcementsOf(entry) : [];
}

/** The time after which an unsent status message is given up, so that a missing client queue does not keep the order busy. */
const undeliverableMs = 900_000;

type StatusEntry = Extract<OutboxEntry, { kind: 'status' }>;

export const isUndeliverable = (entry: OutboxEntry, now: number): entry is StatusEntry =>
  entry.kind === 'status' && entry.unproven === true && now - Date.parse(String(entry.message['at'])) >= undeliverableMs;

export const undeliverableFacts = (givenUp: readonly StatusEntry[]): readonly OrderFact[] =>
  givenUp.map(({ channel }) => ({ type: 'ResponseUndeliverable', channel }));

/** Returns an alert about undeliverable status messages. The order continues, but its client receives nothing. */
export const undeliverableAlerts = (
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
