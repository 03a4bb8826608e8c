import type { Announcement, Publisher } from '../../lib/publisher.ts';
import { type StateRecord, shardOf } from '../../lib/record.ts';
import type { Along, Store } from '../../lib/store.ts';
import { openDatabase } from '../../lib/stores/sqlite/database.ts';
import { sqliteStore } from '../../lib/stores/sqlite/store.ts';
import type { Ports } from '../../lib/system.ts';
import type { Site } from './faults.ts';
import type { SimulatedHost } from './host.ts';
import type { SimulatedQueues } from './queues.ts';
import type { Sight } from './sight.ts';

const writing = (name: string): Site => ({ name, faults: ['throttled', 'answer lost', 'written twice'] });
const adding = (name: string): Site => ({ name, faults: ['throttled', 'answer lost'] });
const reading = (name: string): Site => ({ name, faults: ['throttled'] });
const sites = {
  create: writing('store.create'),
  update: writing('store.update'),
  patch: writing('store.patch'),
  putPage: adding('store.putPage'),
  putUndoPage: adding('store.putUndoPage'),
  noteAsked: adding('store.noteAsked'),
  withdraw: adding('store.withdraw'),
  putBreaker: adding('store.putBreaker'),
  breaker: reading('store.breaker'),
  load: reading('store.load'),
  head: reading('store.head'),
  pages: reading('store.pages'),
  undoPage: reading('store.undoPage'),
  client: reading('store.client'),
  due: { name: 'store.due', faults: ['throttled', 'index late', 'index ghost'] },
  sweep: reading('store.sweep'),
  send: adding('channel.send'),
  publish: { name: 'publisher.publish', faults: ['throttled', 'answer lost', 'not taken'] },
} as const satisfies { readonly [name: string]: Site };

/** How far the index of the worklist may be behind. */
const indexLagMs = 60_000;

/** The real embedded store, in memory, and what all hosts share beside it. */
export class Shared {
  readonly store: Store;
  readonly database = openDatabase(':memory:');
  /** When each order was written last, and what it was then. */
  readonly last = new Map<string, { readonly at: number; readonly state: StateRecord }>();
  private readonly sight: Sight;
  private readonly queues: SimulatedQueues;

  constructor(sight: Sight, queues: SimulatedQueues, sendsAlong: boolean) {
    this.sight = sight;
    this.queues = queues;
    this.store = sqliteStore(this.database, sendsAlong ? (along) => this.sendWithin(along) : undefined);
  }

  private sendWithin({ messages, announcements }: Along): void {
    this.publish(announcements);
    this.queues.send(messages);
  }

  publish(announcements: readonly Announcement[]): void {
    for (const announcement of announcements) this.sight.saw({ type: 'published', announcement });
  }

  written(after: StateRecord, caller?: string): void {
    const before = this.last.get(after.orderId)?.state;
    this.last.set(after.orderId, { at: this.sight.timeline.now, state: after });
    this.sight.saw({ type: 'written', before, after, caller });
  }
}

/** The ports as one host has them: each call is a place where it may crash, or where something else goes wrong. */
export function portsOf(
  host: SimulatedHost,
  shared: Shared,
  queues: SimulatedQueues,
  sight: Sight,
): Pick<Ports, 'store' | 'channel' | 'publisher'> {
  return { store: storeOf(host, shared, sight), channel: channelOf(host, queues, sight), publisher: publisherOf(host, shared, sight) };
}

function storeOf(host: SimulatedHost, shared: Shared, sight: Sight): Store {
  const { store } = shared;
  const call = <T>(site: Site, apply: () => Promise<T>): Promise<T> => host.call(site, apply);
  return {
    ...store,
    ...readsOf(host, shared, sight),
    create: (order, state, along) =>
      call(sites.create, async () => {
        const write = await store.create(order, state, along);
        if (write.outcome === 'written') shared.written(state, order.caller?.orderId);
        return write;
      }),
    update: (state, when, along) =>
      call(sites.update, async () => {
        const write = await store.update(state, when, along);
        if (write.outcome === 'written') shared.written(state);
        return write;
      }),
    patch: (head, when) =>
      call(sites.patch, async () => {
        const write = await store.patch(head, when);
        const blob = shared.last.get(head.orderId)?.state.blob ?? '';
        if (write.outcome === 'written') shared.written({ ...head, blob });
        return write;
      }),
    noteAsked: (asking) =>
      call(sites.noteAsked, async () => {
        const note = await store.noteAsked(asking);
        return note.outcome === 'noted' ? { ...note, withdraw: () => call(sites.withdraw, note.withdraw) } : note;
      }),
    breaker: (agent) => call(sites.breaker, () => store.breaker(agent)),
    putBreaker: (...breaker) => call(sites.putBreaker, () => store.putBreaker(...breaker)),
    putPage: (...page) => call(sites.putPage, () => store.putPage(...page)),
    putUndoPage: (...page) => call(sites.putUndoPage, () => store.putUndoPage(...page)),
  };
}

function readsOf(host: SimulatedHost, { store, last }: Shared, { timeline, faults, chance }: Sight): Partial<Store> {
  /** A proposal: what was written only just now may be missing, and what is there no more may still stand in it. */
  const asIndexed = (found: readonly string[]): readonly string[] => {
    const late = found.filter((id) => {
      const { at } = last.get(id) ?? { at: 0 };
      return timeline.now - at < indexLagMs && faults.hits('index late', sites.due.name);
    });
    const ghosts = faults.hits('index ghost', sites.due.name) && last.size > 0 ? [chance.pick([...last.keys()])] : [];
    return [...new Set([...found.filter((id) => !late.includes(id)), ...ghosts])];
  };
  return {
    load: (id) => host.call(sites.load, () => store.load(id)),
    head: (id) => host.call(sites.head, () => store.head(id)),
    pages: (id) => host.call(sites.pages, () => store.pages(id)),
    undoPage: (...page) => host.call(sites.undoPage, () => store.undoPage(...page)),
    client: (id) => host.call(sites.client, () => store.client(id)),
    sweep: (...page) => host.call(sites.sweep, () => store.sweep(...page)),
    // Read so often that it takes no time of its own.
    due: async (worklist, shard, until, limit) => {
      const isDue = ({ state }: { readonly state: StateRecord }) =>
        state.worklist === worklist && (state.worklistAt ?? 0) <= until && shardOf(state.orderId) === shard;
      return asIndexed([...last.values()].some(isDue) ? await store.due(worklist, shard, until, limit) : []);
    },
  };
}

const channelOf = (host: SimulatedHost, queues: SimulatedQueues, { faults, timeline }: Sight): Ports['channel'] => {
  const notHere = (): never => {
    throw new Error('The world itself receives: no function does.');
  };
  return {
    send: (messages) =>
      host.call(sites.send, () => {
        // What comes before the one that is not taken may be sent: nobody knows.
        for (const message of messages) {
          if (faults.isDown('queue is closed', message.queue, timeline.now)) throw new Error(`${message.queue} is closed.`);
          queues.send([message]);
        }
      }),
    receive: notHere,
    acknowledge: notHere,
    release: notHere,
    depth: notHere,
  };
};

function publisherOf(host: SimulatedHost, shared: Shared, { faults, timeline }: Sight): Publisher {
  return {
    publish: (announcements) =>
      host.call(sites.publish, () => {
        if (faults.isDown('publisher is down', 'bus', timeline.now)) throw new Error('The bus is down.');
        const failed = announcements.filter(() => faults.hits('not taken', sites.publish.name)).map(({ id }) => id);
        shared.publish(announcements.filter(({ id }) => !failed.includes(id)));
        return { failed };
      }),
  };
}
