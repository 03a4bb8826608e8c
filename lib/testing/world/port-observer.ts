import { collections } from '#ports/documents';
import type { Publisher } from '#ports/event-bus';
import type { Queues, Received } from '#ports/queues';
import type { StateHead, StateRecord } from '#ports/records';
import type { SentWithWrite, Store } from '#ports/store';
import { deadLetterIn } from '#roles/dead-letters/dead-letter';
import type { Channels } from './channels.ts';
import type { PortCall } from './instrumented-ports.ts';
import type { Observation } from './observation.ts';

interface World {
  record(observation: Observation): void;
  readonly channels: Channels;
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
      if (messageId !== undefined) this.world.record({ type: 'to be shown', messageId, afterMs });
    }
  }

  /** Observes a call whose effect has happened, whether or not its caller receives the answer. */
  applied({ site, args }: PortCall, answer: unknown): void {
    switch (site) {
      case 'store.create': {
        const [order, state, along] = args as unknown as Parameters<Store['create']>;
        return this.written(answer, state, along, order.caller);
      }
      case 'store.update': {
        const [state, , along] = args as unknown as Parameters<Store['update']>;
        return this.written(answer, state, along);
      }
      case 'store.patch': {
        const [head] = args as unknown as Parameters<Store['patch']>;
        return this.written(answer, this.whole(head));
      }
      case 'store.putDocument':
        return this.documentPut(answer, args as unknown as Parameters<Store['putDocument']>);
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

  private whole(head: StateHead): StateRecord {
    return { ...head, blob: this.states.get(head.orderId)?.blob ?? '' };
  }

  private written(
    answer: unknown,
    after: StateRecord,
    along?: SentWithWrite,
    caller?: { readonly orderId: string; readonly path: string },
  ): void {
    if (!isWritten(answer)) return;
    // The messages are visible as soon as the write is.
    if (along && this.world.writesAndSendsAtomically) {
      this.published(along.announcements);
      this.sent(along.messages);
    }
    const before = this.states.get(after.orderId);
    this.states.set(after.orderId, after);
    this.world.record({ type: 'written', before, after, caller: caller?.orderId, callerPath: caller?.path });
  }

  private documentPut(answer: unknown, [document]: Parameters<Store['putDocument']>): void {
    if (!isWritten(answer)) return;
    this.world.channels.stored(document);
    if (document.collection.startsWith(collections.deadLetters('')))
      this.world.record({ type: 'dead-lettered', message: deadLetterIn(document) });
  }

  private sent(messages: Parameters<Queues['send']>[0]): void {
    for (const { queue, body, delayMs = 0 } of messages) this.world.record({ type: 'sent', queue, body, delayMs });
  }

  private acknowledged(queue: string, receipts: readonly string[]): void {
    for (const receipt of receipts) {
      const message = this.received.get(receipt);
      if (message) this.world.record({ type: 'acknowledged', queue, body: message.body });
    }
  }

  private published(announcements: Parameters<Publisher['publish']>[0]): void {
    for (const announcement of announcements) this.world.record({ type: 'published', announcement });
  }
}

const isWritten = (answer: unknown): boolean => (answer as { readonly outcome?: string }).outcome === 'written';
