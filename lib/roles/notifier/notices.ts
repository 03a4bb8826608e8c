import { fingerprint } from '#core/definition/fingerprint';
import type { Destination } from '#core/notifications/delivery';
import type { FingerprintFigures, MessageFacts, SampleTask } from '#core/notifications/message';
import { messageOf } from '#core/notifications/message';
import {
  type Allowance,
  decideNotice,
  looksAt,
  type News,
  type Notice,
  type NoticeDecision,
  takeMessage,
  withNews,
} from '#core/notifications/notice';
import type { Clock } from '#ports/clock';
import { collections, type Document, type Documents } from '#ports/documents';
import { compareAndSet } from '#ports/util/compare-and-set';
import { type Agenda, type AgendaEntry, agendaDocument } from './agenda.ts';
import { deliveryDocument } from './deliveries.ts';

/** The name of a notice: the people who hear of it, and what its tasks have in common. */
export interface NoticeName {
  readonly group: string;
  readonly key: string;
}

/** A notice as it is stored, with the last of its tasks. */
interface StoredNotice extends NoticeName {
  readonly notice: Notice;
  readonly sample: SampleTask;
}

/** News of several tasks of one kind, and the last of these tasks. */
export interface TaskNews extends NoticeName {
  readonly news: News;
  readonly sample: SampleTask;
}

export interface NoticeOptions {
  readonly store: Pick<Documents, 'document' | 'putDocument' | 'removeDocument'>;
  readonly agenda: Agenda;
  readonly clock: Pick<Clock, 'now'>;
  readonly destinationsOf: (group: string) => Promise<readonly Destination[]>;
  /** Returns until when people have muted tasks like this one; 0 if they have not. */
  readonly mutedUntil: (name: NoticeName, sample: SampleTask) => Promise<number>;
  readonly figuresOf: (sample: SampleTask, since: number) => Promise<FingerprintFigures | undefined>;
  readonly consoleUrl?: string | undefined;
}

export interface Notices {
  /** Adds news to a notice, and puts the notice on the agenda. */
  add(news: TaskNews): Promise<void>;
  /** Does what is due about a notice: writes its message, waits, or forgets it. */
  look(entry: AgendaEntry, name: NoticeName): Promise<void>;
}

/** Creates the notices: what each group of people has heard, and will hear, about tasks of one kind. */
export function createNotices(options: NoticeOptions): Notices {
  const { store, agenda, clock } = options;

  async function decide(entry: AgendaEntry, document: Document): Promise<'lost' | undefined> {
    const stored = storedIn(document);
    const name = { group: stored.group, key: stored.key };
    const decision = decideNotice(stored.notice, clock.now(), await options.mutedUntil(name, stored.sample));
    switch (decision.kind) {
      case 'wait':
        return void (await agenda.move(entry, decision.until));
      case 'forget':
        if ((await store.removeDocument(document.collection, document.id, document.rev)).outcome === 'refused') return 'lost';
        return void (await agenda.remove(entry));
      case 'send':
        return sendNotice(entry, document, decision, options);
    }
  }

  return {
    async add({ group, key, news, sample }) {
      const place = { collection: collections.notices(group), id: key };
      const result = await compareAndSet(async () => {
        const current = await store.document(place.collection, place.id);
        const before = current && storedIn(current).notice;
        const notice = withNews(before, news);
        const at = looksAt(notice);
        if (!before || looksAt(before) !== at) await agenda.put(at, { what: 'notice', group, key });
        const content = { group, key, notice: { ...notice }, sample: { ...sample } } as unknown as Document['content'];
        const write = await store.putDocument({ ...place, rev: (current?.rev ?? 0) + 1, content }, current?.rev ?? 0);
        return write.outcome === 'written' ? 'over' : 'lost';
      });
      if (result === 'lost') throw lostNotice(group, key);
    },
    async look(entry, { group, key }) {
      const result = await compareAndSet(async () => {
        const document = await store.document(collections.notices(group), key);
        if (!document) return void (await agenda.remove(entry));
        return decide(entry, document);
      });
      if (result === 'lost') throw lostNotice(group, key);
    },
  };
}

const lostNotice = (group: string, key: string): Error =>
  new Error(`The notice ${key} of the group ${group} was not written: other processes came first at every try. The notifier tries again.`);

/** Writes the message of a notice for each destination of its group. */
async function sendNotice(
  entry: AgendaEntry,
  document: Document,
  { message, notice }: Extract<NoticeDecision, { kind: 'send' }>,
  options: NoticeOptions,
): Promise<'lost' | undefined> {
  const { store, agenda, clock } = options;
  const stored = storedIn(document);
  const { group, key, sample } = stored;
  const now = clock.now();
  const taken = await takeFor(group, now, store);
  if ('until' in taken) return void (await agenda.move(entry, taken.until));
  const facts: MessageFacts = {
    id: `ntf_${fingerprint([group, key])}_${stored.notice.firstAt.toString(36)}_${notice.sent}`,
    at: now,
    group,
    message,
    notice: stored.notice,
    sample,
    figures: await options.figuresOf(sample, stored.notice.firstAt),
    pausedUntil: taken.pausedUntil,
    consoleUrl: options.consoleUrl,
  };
  const text = messageOf(facts);
  const destinations = await options.destinationsOf(group);
  const deliveries = destinations.map((destination, index) => deliveryDocument({ message: text, destination, group }, index, now));
  const entries = deliveries.map(({ id }) => agendaDocument(now, { what: 'delivery', id }));
  const nextAt = looksAt(notice);
  await agenda.put(nextAt, { what: 'notice', group, key });
  const next = { ...document, rev: document.rev + 1, content: { ...document.content, notice: { ...notice } } };
  // The message is part of the write that counts it: neither is stored without the other.
  const { outcome } = await store.putDocument(next as Document, document.rev, [...deliveries, ...entries]);
  if (outcome === 'refused') return 'lost';
  await agenda.remove(entry);
  return undefined;
}

const storedIn = ({ content }: Document): StoredNotice => content as unknown as StoredNotice;

/** Takes one message from the allowance of a group. */
async function takeFor(
  group: string,
  now: number,
  store: NoticeOptions['store'],
): Promise<{ readonly pausedUntil: number | undefined } | { readonly until: number }> {
  const result = await compareAndSet(async () => {
    const current = await store.document(collections.allowances, group);
    const taken = takeMessage(current?.content as unknown as Allowance | undefined, now);
    if ('until' in taken) return taken;
    const { since, sent } = taken.allowance;
    const rev = current?.rev ?? 0;
    const write = await store.putDocument({ collection: collections.allowances, id: group, rev: rev + 1, content: { since, sent } }, rev);
    if (write.outcome === 'refused') return 'lost';
    return { pausedUntil: taken.pausedUntil };
  });
  if (result === 'lost')
    throw new Error(
      `A message to the group ${group} waits: other processes changed the count of its messages during every try. The notifier tries again.`,
    );
  return result;
}
