import type { LocalKeys } from '#adapters/sqlite/keys';
import { collections, type Document } from '#ports/documents';
import type { Publisher } from '#ports/event-bus';
import type { Queues, Received } from '#ports/queues';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { SentWithUpdate, Store } from '#ports/store';
import { type DeadLetter, deadLetterIn } from '#roles/dead-letters/dead-letter';
import { openedLetterNow } from '#roles/dead-letters/kept-body';
import { objectUseIn } from '#roles/recovery/objects';
import { isOfBulkRun } from './bulk-records.ts';
import type { Channels } from './channels.ts';
import type { PortCall } from './instrumented-ports.ts';
import type { Observation } from './observation.ts';

interface World {
  record(observation: Observation): void;
  readonly channels: Channels;
  /** Holds the keys with which the system encrypts dead letters, if it does. */
  readonly embedded?: { readonly keys: LocalKeys };
  /** Whether messages are sent in the transaction of each write. */
  readonly writesAndSendsAtomically: boolean;
}

/** Turns the calls of ports that had an effect into observations. */
export class PortObserver {
  private readonly world: World;
  private readonly states = new Map<string, StateRecord>();
  /** Received messages, by receipt. */
  private readonly received = new Map<string, Received>();

  constructor(world: World) {
    this.world = world;
  }

  /** Observes a call before it is made. */
  made({ site, args }: PortCall): void {
    if (site !== 'queues.release') return;
    const [, receipts, afterMs] = args as unknown as Parameters<Queues['release']>;
    for (const receipt of receipts) {
      const messageId = this.received.get(receipt)?.messageId;
      if (messageId !== undefined) this.world.record({ type: 'visibility changed', messageId, afterMs });
    }
  }

  /** Observes a call whose effect has happened, whether or not its caller receives the answer. */
  applied(made: PortCall, answer: unknown): void {
    const { site, args } = made;
    const stored = storedBy(made, answer, (orderId) => this.states.get(orderId)?.blob ?? '');
    if (stored) this.written(stored);
    const document = documentPutBy(made, answer);
    if (document) this.documentPut(document);
    const use = document && objectNotedBy(document);
    if (use) this.world.record(use);
    const inbox = inboxChangedBy(made, answer);
    if (inbox) this.world.record(inbox);
    switch (site) {
      case 'queues.send':
        return this.sent(...(args as unknown as Parameters<Queues['send']>));
      case 'queues.receive':
        for (const message of answer as readonly Received[]) this.received.set(message.receipt, message);
        return;
      case 'queues.acknowledge':
        return this.acknowledged(...(args as unknown as Parameters<Queues['acknowledge']>));
      case 'publisher.publish': {
        const { failed } = answer as Awaited<ReturnType<Publisher['publish']>>;
        const [announcements] = args as unknown as Parameters<Publisher['publish']>;
        return this.published(announcements.filter(({ id }) => !failed.includes(id)));
      }
    }
  }

  private written({ state, along, order }: Stored): void {
    // The messages are visible as soon as the write is.
    if (along && this.world.writesAndSendsAtomically) {
      this.published(along.announcements);
      this.sent(along.messages);
    }
    const before = this.states.get(state.orderId);
    this.states.set(state.orderId, state);
    this.world.record({
      type: 'written',
      before,
      after: state,
      order,
      documents: along?.documents ?? [],
    });
  }

  private documentPut(document: Document): void {
    this.world.channels.stored(document);
    if (isOfBulkRun(document)) this.world.record({ type: 'bulk recorded', document });
    if (isDeadLetter(document)) this.world.record({ type: 'dead-lettered', message: this.openedLetter(document) });
  }

  private openedLetter(document: Document): DeadLetter {
    const { embedded } = this.world;
    return embedded ? openedLetterNow(deadLetterIn(document), embedded.keys.now.of) : deadLetterIn(document);
  }

  private sent(messages: Parameters<Queues['send']>[0]): void {
    for (const { queue, body, delayMs = 0 } of messages) this.world.record({ type: 'sent', queue, body, delayMs });
  }

  private acknowledged(queue: string, receipts: readonly string[]): void {
    for (const receipt of receipts) {
      const message = this.received.get(receipt);
      if (message) this.world.record({ type: 'acknowledged', queue, messageId: message.messageId, body: message.body });
    }
  }

  private published(announcements: Parameters<Publisher['publish']>[0]): void {
    for (const announcement of announcements) this.world.record({ type: 'published', announcement });
  }
}

/** The state that a call has stored. */
export interface Stored {
  readonly state: StateRecord;
  readonly along?: SentWithUpdate;
  /** The order, if the call created it. */
  readonly order?: OrderRecord;
}

/** Returns the state that a call has stored; undefined if it stored none. A patch keeps the blob of the order. */
export function storedBy({ site, args }: PortCall, answer: unknown, blobOf: (orderId: string) => string): Stored | undefined {
  if (!isWritten(answer)) return undefined;
  if (site === 'store.create') {
    const [order, state, along] = args as unknown as Parameters<Store['create']>;
    return { state, along, order };
  }
  if (site === 'store.update') {
    const [state, , along] = args as unknown as Parameters<Store['update']>;
    return { state, along };
  }
  if (site !== 'store.patch') return undefined;
  const [head] = args as unknown as Parameters<Store['patch']>;
  return { state: { ...head, blob: blobOf(head.orderId) } };
}

/** Returns the document that a call has stored; undefined if it stored none. */
export function documentPutBy({ site, args }: PortCall, answer: unknown): Document | undefined {
  return site === 'store.putDocument' && isWritten(answer) ? (args[0] as Document) : undefined;
}

/** Returns what a call has changed in the inbox of a locked order; undefined if it changed none. */
export function inboxChangedBy(made: PortCall, answer: unknown): Extract<Observation, { type: 'kept' | 'drained' }> | undefined {
  const document = documentPutBy(made, answer);
  const orderId = document && inboxOrder(document.collection);
  if (document && orderId !== undefined) return { type: 'kept', orderId, id: document.id, ...messageIn(document) };
  const [collection, id] = made.args as readonly string[];
  if (made.site !== 'store.removeDocument' || !isWritten(answer) || collection === undefined || id === undefined) return undefined;
  const left = inboxOrder(collection);
  return left === undefined ? undefined : { type: 'drained', orderId: left, id };
}

/** Returns the failure count of a conversation with a consumer that a call has changed; undefined if it changed none. */
export function countChangedBy(made: PortCall, answer: unknown): Extract<Observation, { type: 'failures counted' }> | undefined {
  if (!isWritten(answer)) return undefined;
  const document = documentPutBy(made, answer);
  const [collection, id] = document
    ? [document.collection, document.id]
    : made.site === 'store.removeDocument'
      ? (made.args as readonly string[])
      : [];
  const begin = collections.tracks('');
  if (!collection?.startsWith(begin) || !/^(conversation|message)\//.test(id ?? '')) return undefined;
  const failures = Number(document?.content['failures'] ?? 0);
  return { type: 'failures counted', channel: collection.slice(begin.length), conversation: id ?? '', failures };
}

/** Returns the use of an object that a document records; undefined for other documents. */
export function objectNotedBy(document: Document): Extract<Observation, { type: 'object noted' }> | undefined {
  const begin = collections.object('');
  if (!document.collection.startsWith(begin)) return undefined;
  return { type: 'object noted', object: document.collection.slice(begin.length), use: objectUseIn(document) };
}

const messageIn = ({ content }: Document) => ({ queue: String(content['queue']), body: String(content['body']) });

const inboxOrder = (collection: string): string | undefined => {
  const begin = collections.inbox('');
  return collection.startsWith(begin) ? collection.slice(begin.length) : undefined;
};

export const isDeadLetter = ({ collection }: Document): boolean => collection.startsWith(collections.deadLetters(''));

const isWritten = (answer: unknown): boolean => (answer as { readonly outcome?: string } | undefined)?.outcome === 'written';
