import { type Item, orderItem, pageItem, stateItem, undoPageItem } from '#adapters/aws/dynamodb/items';
import { openDatabase } from '#adapters/sqlite/database';
import { sqliteStore } from '#adapters/sqlite/store';
import { collections } from '#ports/documents';
import type { Announcement, Publisher } from '#ports/event-bus';
import { agentOfReplies, agentOfRequests, type Request } from '#ports/messages';
import { type StateRecord, shardOf } from '#ports/records';
import type { SentWithWrite, Store, Write } from '#ports/store';
import { deadLetterIn } from '#roles/dead-letters/dead-letter';
import type { Ports } from '#runtime/system';
import { roleAtWork } from './at-work.ts';
import { Channels } from './channels.ts';
import { type Site, Unavailable } from './faults.ts';
import type { SimulatedHost } from './host.ts';
import type { Limits, Metered } from './limits.ts';
import { responseQueue } from './outside.ts';
import type { SimulatedQueues } from './queues.ts';
import type { Sight } from './sight.ts';
import { asSent } from './stricter.ts';
import { cuttable } from './transactions.ts';

const writing = (name: string): Site => ({ name, faults: ['throttled', 'answer lost', 'written twice'] });
const adding = (name: string): Site => ({ name, faults: ['throttled', 'answer lost'] });
const reading = (name: string): Site => ({ name, faults: ['throttled'] });
const sites = {
  create: { name: 'store.create', faults: ['throttled', 'transaction conflict', 'answer lost', 'written twice'] },
  update: writing('store.update'),
  patch: writing('store.patch'),
  putPage: adding('store.putPage'),
  putUndoPage: adding('store.putUndoPage'),
  recordIntent: adding('store.recordIntent'),
  withdraw: adding('store.withdraw'),
  putBreaker: adding('store.putBreaker'),
  breaker: reading('store.breaker'),
  putDocument: adding('store.putDocument'),
  removeDocument: adding('store.removeDocument'),
  document: reading('store.document'),
  documents: reading('store.documents'),
  load: reading('store.load'),
  head: reading('store.head'),
  pages: reading('store.pages'),
  undoPage: reading('store.undoPage'),
  client: reading('store.client'),
  due: reading('store.due'),
  sweep: reading('store.sweep'),
  send: adding('queues.send'),
  acknowledge: adding('queues.acknowledge'),
  release: adding('queues.release'),
  depth: reading('queues.depth'),
  publish: { name: 'publisher.publish', faults: ['throttled', 'answer lost', 'not taken'] },
} as const satisfies { readonly [name: string]: Site };

/** Each method of a port at which something can go wrong. */
export const callSites: readonly Site[] = Object.values(sites);

/** The only one that may ask for something only once: see `atMostOnce`. */
const notingAgent = 'ledger';
/** How far the index of the worklist may be behind. */
const indexLagMs = 60_000;
const day = 86_400_000;
/** Longer than any world lasts. */
const forGood = 1000 * day;

interface Last {
  readonly at: number;
  readonly shard: number;
  readonly state: StateRecord;
}

/** The real embedded store, in memory, and what all hosts share beside it. */
export class Shared {
  readonly store: Store;
  readonly database = cuttable(openDatabase(':memory:'));
  /** When each order was written last, and what it was then. */
  readonly last = new Map<string, Last>();
  /** What the index of the worklist never hears of, until the order is written again. */
  readonly hidden = new Set<string>();
  readonly channels: Channels;
  /** Where the store takes no more than DynamoDB does. */
  limits: Limits | undefined;
  private readonly sight: Sight;
  private readonly queues: SimulatedQueues;

  constructor(sight: Sight, queues: SimulatedQueues, writesAndSendsAtomically: boolean) {
    this.sight = sight;
    this.queues = queues;
    this.channels = new Channels(sight.timeline);
    this.store = sqliteStore(this.database, writesAndSendsAtomically ? (along) => this.sendWithin(along) : undefined);
  }

  /** Whether a supervisor whose clock is right finds something. */
  isAnythingDue(): boolean {
    const { now } = this.sight.timeline;
    return some(this.last, ({ state }) => state.worklist === 'due' && (state.worklistAt ?? 0) <= now);
  }

  /** A byte of what is stored of an order is another one: nobody can read it any more. */
  damage(orderId: string): void {
    const blob = this.last.get(orderId)?.state.blob ?? '';
    const at = this.sight.chance.between(0, blob.length - 1);
    this.database
      .prepare('UPDATE states SET blob = ? WHERE id = (SELECT id FROM orders WHERE orderId = ?)')
      .run(`${blob.slice(0, at)}\u0001${blob.slice(at + 1)}`, orderId);
    this.sight.saw({ type: 'damaged', orderId, at });
  }

  private sendWithin({ messages, announcements }: SentWithWrite): void {
    this.publish(announcements);
    this.queues.send(messages);
  }

  publish(announcements: readonly Announcement[]): void {
    for (const announcement of announcements) this.sight.saw({ type: 'published', announcement });
  }

  /** What a newer program leaves of a record, or gives back as this one knows it: a write like any other. */
  rewrite(orderId: string, schemaVersion: number): void {
    const state = this.last.get(orderId)?.state;
    if (!state) return;
    const rev = state.rev + 1;
    this.database
      .prepare(
        "UPDATE states SET rev = ?, head = json_set(head, '$.rev', ?, '$.schemaVersion', ?) WHERE id = (SELECT id FROM orders WHERE orderId = ?)",
      )
      .run(rev, rev, schemaVersion, orderId);
    this.written({ ...state, rev });
  }

  /** It was written by nobody: a table was restored. */
  putBack(state: StateRecord): void {
    const { orderId } = state;
    this.last.set(orderId, { at: this.sight.timeline.now, state, shard: shardOf(orderId) });
    this.hidden.delete(orderId);
  }

  written(after: StateRecord, caller?: string): void {
    const { orderId } = after;
    const known = this.last.get(orderId);
    const before = known?.state;
    this.last.set(orderId, { at: this.sight.timeline.now, state: after, shard: known?.shard ?? shardOf(orderId) });
    this.hidden.delete(orderId);
    if (after.worklist !== null && this.sight.faults.hits('index never', sites.due.name, () => ({ role: 'supervisor', orderId })))
      this.hidden.add(orderId);
    this.sight.saw({ type: 'written', before, after, caller });
  }
}

/** The ports as one host has them: each call is a place where it may crash, or where something else goes wrong. */
export function portsOf(
  host: SimulatedHost,
  shared: Shared,
  queues: SimulatedQueues,
  sight: Sight,
): Pick<Ports, 'store' | 'queues' | 'publisher'> {
  return { store: storeOf(host, shared, sight), queues: channelOf(host, queues, sight), publisher: publisherOf(host, shared, sight) };
}

function storeOf(host: SimulatedHost, shared: Shared, sight: Sight): Store {
  const { store } = shared;
  // Who dies in the middle of a call leaves what its first transaction did.
  const callOnce = <T>(site: Site, orderId: string, apply: () => Promise<T>): Promise<T> =>
    host.call(site, (fault) => shared.database.within(fault === 'crash applied' ? 1 : Number.POSITIVE_INFINITY, apply), {
      about: () => orderId,
    });
  const { limits } = shared;
  const call: typeof callOnce = limits ? (site, orderId, apply) => limits.patiently(host, () => callOnce(site, orderId, apply)) : callOnce;
  const metered = <W extends { readonly outcome: string }>(
    items: () => Pick<Metered, 'write' | 'orderId' | 'items'>,
    apply: () => Promise<W>,
  ): Promise<W> => {
    if (!limits) return apply();
    const what = items();
    return limits.metered({ ...what, times: what.items.length > 1 ? 2 : 1 }, apply);
  };
  const put = async (site: Site, orderId: string, item: () => Item, apply: () => Promise<void>): Promise<void> => {
    const items = () => ({ write: site.name, orderId, items: [item()] });
    await metered(items, async () => {
      await apply();
      return { outcome: 'written' };
    });
  };
  return {
    ...store,
    ...readsOf(host, shared, sight),
    create: (order, state, along) =>
      call(sites.create, order.orderId, async () => {
        const items = () => ({ write: sites.create.name, orderId: order.orderId, items: [orderItem(order), stateItem(state)] });
        const write = await metered(items, () => store.create(order, state, along));
        if (write.outcome === 'written') shared.written(state, order.caller?.orderId);
        return write;
      }),
    update: (state, when, along) =>
      call(sites.update, state.orderId, async () => {
        const items = () => ({ write: sites.update.name, orderId: state.orderId, items: [stateItem(state)] });
        const write: Write = await metered(items, () => store.update(state, when, along));
        if (write.outcome === 'written') shared.written(state);
        return write;
      }),
    patch: (head, when) =>
      call(sites.patch, head.orderId, async () => {
        const blob = shared.last.get(head.orderId)?.state.blob ?? '';
        const items = () => ({ write: sites.patch.name, orderId: head.orderId, items: [stateItem({ ...head, blob })] });
        const write: Write = await metered(items, () => store.patch(head, when));
        if (write.outcome === 'written') shared.written({ ...head, blob });
        return write;
      }),
    recordIntent: (asking) => {
      const { requestId, completeBy = '' } = asking as typeof asking & Partial<Request>;
      host.guarded(notingAgent, { what: 'records intent', requestId, completeBy });
      return call(sites.recordIntent, asking.orderId, async () => {
        const note = await store.recordIntent(asking);
        return note.outcome === 'recorded' ? { ...note, withdraw: () => call(sites.withdraw, asking.orderId, note.withdraw) } : note;
      });
    },
    ...breakersOf(host, store),
    document: (...key) => call(sites.document, key[0], () => store.document(...key)),
    documents: (...range) => call(sites.documents, range[0], () => store.documents(...range)),
    putDocument: (document, loadedRev) =>
      call(sites.putDocument, document.collection, async () => {
        const write = await store.putDocument(document, loadedRev);
        if (write.outcome === 'written') shared.channels.stored(document);
        const isAside = document.collection.startsWith(collections.deadLetters(''));
        if (write.outcome === 'written' && isAside) sight.saw({ type: 'dead-lettered', message: deadLetterIn(document) });
        return write;
      }),
    removeDocument: (...key) => call(sites.removeDocument, key[0], () => store.removeDocument(...key)),
    putPage: (...page) =>
      call(sites.putPage, page[0], () =>
        put(
          sites.putPage,
          page[0],
          () => pageItem(...page),
          () => store.putPage(...page),
        ),
      ),
    putUndoPage: (...page) =>
      call(sites.putUndoPage, page[0], () =>
        put(
          sites.putUndoPage,
          page[0],
          () => undoPageItem(...page),
          () => store.putUndoPage(...page),
        ),
      ),
  };
}

/** What is stored of services, as their agents read and write it: supervisors and operators do so as well. */
function breakersOf(host: SimulatedHost, store: Store): Pick<Store, 'breaker' | 'putBreaker'> {
  return {
    breaker: async (agent) => {
      const read = () => host.call(sites.breaker, () => store.breaker(agent), { about: () => agent });
      if (roleAtWork() !== 'agent') return read();
      host.guarded(agent, { what: 'reads breaker' });
      try {
        const breaker = await read();
        host.guarded(agent, { what: 'store answered', breaker });
        return breaker;
      } catch (error) {
        host.guarded(agent, { what: 'store failed' });
        throw error;
      }
    },
    putBreaker: async (breaker, loadedRev) => {
      const { agent } = breaker;
      const write = () => host.call(sites.putBreaker, () => store.putBreaker(breaker, loadedRev), { about: () => agent });
      if (roleAtWork() !== 'agent') return write();
      host.guarded(agent, { what: 'writes breaker', breaker, loadedRev });
      try {
        const answer = await write();
        const isWritten = answer.outcome === 'written';
        host.guarded(agent, { what: 'store answered', breaker: isWritten ? breaker : (answer.current ?? undefined), isWritten });
        return answer;
      } catch (error) {
        host.guarded(agent, { what: 'store failed', isWritten: false });
        throw error;
      }
    },
  };
}

function readsOf(host: SimulatedHost, { store, last, hidden }: Shared, sight: Sight): Partial<Store> {
  const { timeline, faults, chance } = sight;
  /** A proposal: what was written only just now may be missing, and what is there no more may still stand in it. */
  const asIndexed = (found: readonly string[]): readonly string[] => {
    const isLate = (id: string): boolean =>
      hidden.has(id) ||
      (timeline.now - (last.get(id)?.at ?? 0) < indexLagMs && faults.hits('index late', sites.due.name, () => ({ orderId: id })));
    const seen = found.filter((id) => !isLate(id));
    if (last.size === 0 || !faults.chooses('index ghost')) return seen;
    const ghost = chance.pick([...last.keys()]);
    if (seen.includes(ghost)) return seen;
    faults.lands('index ghost', sites.due.name, { orderId: ghost });
    return [...seen, ghost];
  };
  return {
    load: (id) =>
      host.call(
        sites.load,
        async () => {
          const found = await store.load(id);
          const strange = found && host.strangeTo(found.state);
          if (strange) faults.lands(strange, sites.load.name, { orderId: id });
          return found;
        },
        { about: () => id },
      ),
    head: (id) => host.call(sites.head, () => store.head(id), { about: () => id }),
    pages: (id) => host.call(sites.pages, () => store.pages(id), { about: () => id }),
    undoPage: (...page) => host.call(sites.undoPage, () => store.undoPage(...page), { about: () => page[0] }),
    client: (id) => host.call(sites.client, () => store.client(id)),
    sweep: (...page) => host.call(sites.sweep, () => store.sweep(...page)),
    // Asked so often that an answer of nothing takes no time of its own.
    due: async (worklist, shard, until, limit) => {
      const isDue = ({ shard: own, state }: Last) => own === shard && state.worklist === worklist && (state.worklistAt ?? 0) <= until;
      if (!some(last, isDue)) return asIndexed([]);
      return host.call(sites.due, async () => asIndexed(await store.due(worklist, shard, until, limit)));
    },
  };
}

const channelOf = (host: SimulatedHost, queues: SimulatedQueues, sight: Sight): Ports['queues'] => {
  const { faults, timeline } = sight;
  const notHere = (): never => {
    throw new Error('The world itself receives: no function does.');
  };
  const isClosed = (queue: string, body: string): boolean => {
    const outage = { now: timeline.now, victim: () => queues.victimOn(queue, body) };
    if (queue === responseQueue && faults.isDown('client queue gone', queue, { ...outage, lastsMs: [forGood, forGood] })) return true;
    return faults.isDown('queue is closed', queue, outage);
  };
  return {
    send: (given) => {
      const messages = given.map((message) => ({ ...message, body: asSent(faults, message.body) }));
      for (const { queue, body } of messages) tellPutBack(host, queue, body);
      const sent = host.call(
        sites.send,
        () => {
          // What comes before the one that is not taken may be sent: nobody knows.
          for (const message of messages) {
            if (isClosed(message.queue, message.body)) throw new Unavailable(`${message.queue} is closed.`);
            queues.send([message]);
          }
        },
        { about: () => (messages[0] ? queues.victimOn(messages[0].queue, messages[0].body).orderId : undefined) },
      );
      for (const { queue, body } of messages) tellBeat(host, queue, body, sent);
      return sent;
    },
    receive: notHere,
    acknowledge: (queue, receipts) => host.call(sites.acknowledge, () => queues.acknowledge(queue, receipts.map(idIn), host)),
    release: (queue, receipts, afterMs) => {
      for (const receipt of receipts) sight.saw({ type: 'visibility changed', messageId: idIn(receipt), afterMs });
      return host.call(sites.release, () => queues.release(queue, receipts, afterMs));
    },
    depth: (queue) => host.call(sites.depth, () => queues.depth(queue)),
  };
};

function publisherOf(host: SimulatedHost, shared: Shared, { faults, timeline }: Sight): Publisher {
  return {
    publish: (announcements) =>
      host.call(
        sites.publish,
        () => {
          const victim = () => ({ orderId: orderIdIn(announcements[0]?.id) });
          const outage = { now: timeline.now, victim };
          if (faults.isDown('publisher gone for a day', 'bus', { ...outage, lastsMs: [day, day] }))
            throw new Unavailable('The bus is gone.');
          if (faults.isDown('publisher is down', 'bus', outage)) throw new Unavailable('The bus is down.');
          const failed = announcements.filter(() => faults.hits('not taken', sites.publish.name, victim)).map(({ id }) => id);
          shared.publish(announcements.filter(({ id }) => !failed.includes(id)));
          return { failed };
        },
        { about: () => orderIdIn(announcements[0]?.id) },
      ),
  };
}

function tellPutBack(host: SimulatedHost, queue: string, body: string): void {
  const agent = roleAtWork() === 'agent' ? agentOfRequests(queue) : undefined;
  if (agent === undefined || !body.includes('"requeued":')) return;
  const { requestId } = JSON.parse(body) as { requestId: string };
  host.guarded(agent, { what: 'requeues', requestId });
}

/** Heard before whoever sends it goes on. A scheduler that meets a lease posts what it heard anew. */
function tellBeat(host: SimulatedHost, queue: string, body: string, sent: Promise<void>): void {
  const agent = roleAtWork() === 'agent' ? agentOfReplies(queue) : undefined;
  if (agent === undefined || !body.startsWith('{"v":1,"type":"heartbeat"')) return;
  const { requestId, completeBy } = JSON.parse(body) as { requestId: string; completeBy: string };
  host.guarded(agent, { what: 'sends heartbeat', requestId, completeBy, stoodStillUntil: host.frozenUntil });
  sent.then(
    () => {
      host.beatenUntil.set(requestId, Date.parse(completeBy));
      host.guarded(agent, { what: 'heartbeat sent', requestId, completeBy });
    },
    () => undefined,
  );
}

const idIn = (receipt: string): string => receipt.slice(0, receipt.indexOf('/'));

/** What is announced of an order has an id that begins with it. */
const orderIdIn = (id: string | undefined): string | undefined => /^ord_[A-Za-z0-9_-]+/.exec(id ?? '')?.[0];

/** Without a list of them all: it is asked very often. */
function some<T>(all: ReadonlyMap<string, T>, is: (each: T) => boolean): boolean {
  for (const each of all.values()) if (is(each)) return true;
  return false;
}
