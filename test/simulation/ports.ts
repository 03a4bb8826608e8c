import { type Item, orderItem, pageItem, stateItem, undoPageItem } from '#adapters/aws/dynamodb/items';
import { openDatabase } from '#adapters/sqlite/database';
import { keysInMemory, type LocalKeys } from '#adapters/sqlite/keys';
import { sqliteStore } from '#adapters/sqlite/store';
import type { Announcement, Publisher } from '#ports/event-bus';
import type { Request } from '#ports/messages';
import { type StateRecord, shardOf } from '#ports/records';
import type { SentWithWrite, Store } from '#ports/store';
import { deadLetterIn } from '#roles/dead-letters/dead-letter';
import { openedLetterNow } from '#roles/dead-letters/kept-body';
import type { Ports } from '#runtime/system';
import { isOfBulkRun } from '#testing/world/bulk-records';
import { Channels } from '#testing/world/channels';
import { instrumented, type PortCall } from '#testing/world/instrumented-ports';
import { peopleRecordsBy } from '#testing/world/people-records';
import {
  countChangedBy,
  documentPutBy,
  inboxChangedBy,
  isDeadLetter,
  objectNotedBy,
  type Stored,
  storedBy,
} from '#testing/world/port-observer';
import { roleAtWork } from './at-work.ts';
import { responseQueue } from './clients.ts';
import { consumerTurnedBy } from './consumers.ts';
import { type Site, Unavailable } from './faults.ts';
import type { SimulatedHost } from './host.ts';
import type { Limits } from './limits.ts';
import type { SimulatedQueues } from './queues.ts';
import type { Chance } from './random.ts';
import { Receivers } from './receivers.ts';
import { asSent } from './stricter.ts';
import type { Surroundings } from './surroundings.ts';
import { cuttable } from './transactions.ts';
import { Unheard } from './unheard.ts';

const writes = ['throttled', 'answer lost', 'written twice'] as const;
const adds = ['throttled', 'answer lost'] as const;
const reads = ['throttled'] as const;
/** Faults at each method of a port, besides a crash. Methods that only the API calls have none. */
const faultsAt: { readonly [name: string]: Site['faults'] } = {
  'store.create': ['throttled', 'transaction conflict', 'answer lost', 'written twice'],
  'store.update': writes,
  'store.patch': writes,
  'store.putPage': adds,
  'store.putUndoPage': adds,
  'store.recordIntent': adds,
  'store.withdraw': adds,
  'store.putBreaker': adds,
  'store.breaker': reads,
  'store.putDocument': adds,
  'store.putCounted': adds,
  'store.removeDocument': adds,
  'store.document': reads,
  'store.documents': reads,
  'store.listed': reads,
  'store.list': reads,
  'store.load': reads,
  'store.head': reads,
  'store.orderWithoutState': reads,
  'store.putMissingState': adds,
  'store.pages': reads,
  'store.undoPage': reads,
  'store.client': reads,
  'store.due': reads,
  'store.sweep': reads,
  'queues.send': adds,
  'queues.acknowledge': adds,
  'queues.release': adds,
  'queues.depth': reads,
  'publisher.publish': ['throttled', 'answer lost', 'not taken'],
};
const siteAt = (name: string): Site => ({ name, faults: faultsAt[name] ?? [] });

/** Each method of a port at which a fault can happen. */
export const callSites: readonly Site[] = Object.keys(faultsAt).map(siteAt);

/** The only agent with at-most-once operations: see `atMostOnce`. */
const notingAgent = 'ledger';
/** The largest delay of the worklist index. */
const indexLagMs = 60_000;
const day = 86_400_000;
/** A time longer than any world. */
const forGood = 1000 * day;

interface Last {
  readonly at: number;
  readonly shard: number;
  readonly state: StateRecord;
}

/** The embedded store, in memory, and the state that all hosts share beside it. */
export class Shared {
  readonly store: Store;
  /** The keys of all hosts. */
  readonly keys: LocalKeys;
  readonly database = cuttable(openDatabase(':memory:'));
  /** The last write of each order: its time and its record. */
  readonly last = new Map<string, Last>();
  /** Orders whose last write never reaches the worklist index; the next write ends this. */
  readonly hidden = new Set<string>();
  readonly channels: Channels;
  /** The limits of DynamoDB, in worlds that apply them. */
  limits: Limits | undefined;
  /** Called for each announcement. */
  onAnnounced: ((announcement: Announcement) => void) | undefined;
  /** Called when a process of bulk runs reads an order, before it gives it an instruction. */
  onBulkTurn: ((host: SimulatedHost) => void) | undefined;
  /** Called when a process reads an order for an operator. */
  onHolderTurn: ((host: SimulatedHost, orderId: string) => void) | undefined;
  /** The receivers of messages for people, in worlds with a notifier. */
  receivers: Receivers | undefined;
  unheard: Unheard | undefined;
  private readonly around: Surroundings;
  private readonly queues: SimulatedQueues;

  constructor(around: Surroundings, queues: SimulatedQueues, writesAndSendsAtomically: boolean) {
    this.around = around;
    this.queues = queues;
    this.channels = new Channels(around.timeline);
    this.keys = keysInMemory({ now: () => around.timeline.now }, 'the same for every run');
    this.store = sqliteStore(this.database, writesAndSendsAtomically ? (along) => this.sendWithin(along) : undefined);
  }

  /** Whether a supervisor with a correct clock would find a due order. */
  isAnythingDue(): boolean {
    const { now } = this.around.timeline;
    return some(this.last, ({ state }) => state.worklist === 'due' && (state.worklistAt ?? 0) <= now);
  }

  /** Changes one byte of the stored state, so that no role can read it any more. */
  damage(orderId: string): void {
    const blob = this.last.get(orderId)?.state.blob ?? '';
    const at = this.around.chance.between(0, blob.length - 1);
    this.database
      .prepare('UPDATE states SET blob = ? WHERE id = (SELECT id FROM orders WHERE orderId = ?)')
      .run(`${blob.slice(0, at)}\u0001${blob.slice(at + 1)}`, orderId);
    this.around.record({ type: 'damaged', orderId, at });
  }

  /** Carries out a call, and records what it stored. */
  async applied(made: PortCall): Promise<unknown> {
    const answer = await this.metered(made);
    const stored = storedBy(made, answer, (orderId) => this.last.get(orderId)?.state.blob ?? '');
    if (stored) this.written(stored);
    const document = documentPutBy(made, answer);
    if (document) this.channels.stored(document);
    const counted = countChangedBy(made, answer);
    if (counted) this.around.record(counted);
    const turned = document && consumerTurnedBy(document);
    if (turned) this.around.record(turned);
    if (document && isOfBulkRun(document)) this.around.record({ type: 'bulk recorded', document });
    const ofPeople = this.receivers && peopleRecordsBy(made, answer);
    if (ofPeople) this.around.record(ofPeople);
    const use = document && objectNotedBy(document);
    if (use) this.around.record(use);
    const kept = inboxChangedBy(made, answer);
    if (kept) this.around.record(kept);
    if (document && isDeadLetter(document))
      this.around.record({ type: 'dead-lettered', message: openedLetterNow(deadLetterIn(document), this.keys.now.of) });
    return answer;
  }

  private async metered({ site, args, apply }: PortCall): Promise<unknown> {
    const items = itemsOf[site];
    const work = async (): Promise<unknown> => apply();
    if (!this.limits || !items) return work();
    const orderId = aboutOf({ site, args, apply }) ?? '';
    const all = items(args as never, this.last.get(orderId)?.state.blob ?? '');
    return this.limits.metered({ write: site, orderId, items: all, times: all.length > 1 ? 2 : 1 }, work);
  }

  private sendWithin({ messages, announcements }: SentWithWrite): void {
    this.publish(announcements);
    this.queues.send(messages);
  }

  publish(announcements: readonly Announcement[]): void {
    for (const announcement of announcements) {
      this.around.record({ type: 'published', announcement });
      this.onAnnounced?.(announcement);
    }
  }

  /** Rewrites a record with another schema version, as a newer program does and as its rollback does. */
  rewrite(orderId: string, schemaVersion: number): void {
    const state = this.last.get(orderId)?.state;
    if (!state) return;
    const rev = state.rev + 1;
    this.database
      .prepare(
        "UPDATE states SET rev = ?, head = json_set(head, '$.rev', ?, '$.schemaVersion', ?) WHERE id = (SELECT id FROM orders WHERE orderId = ?)",
      )
      .run(rev, rev, schemaVersion, orderId);
    this.written({ state: { ...state, rev } });
  }

  /** Takes over a record from a restored table: no role has written it. */
  putBack(state: StateRecord): void {
    const { orderId } = state;
    this.last.set(orderId, { at: this.around.timeline.now, state, shard: shardOf(orderId) });
    this.hidden.delete(orderId);
  }

  /** Begins to observe what people hear. */
  notify(chance: Chance): void {
    this.receivers = new Receivers(this.around, chance);
    this.unheard = new Unheard(this.database);
  }

  written({ state: after, order, along }: Stored): void {
    const { orderId } = after;
    const known = this.last.get(orderId);
    const before = known?.state;
    this.last.set(orderId, { at: this.around.timeline.now, state: after, shard: known?.shard ?? shardOf(orderId) });
    this.hidden.delete(orderId);
    if (after.worklist !== null && this.around.faults.hits('index never', 'store.due', () => ({ role: 'supervisor', orderId })))
      this.hidden.add(orderId);
    this.around.record({ type: 'written', before, after, order, documents: along?.documents ?? [], role: roleAtWork() });
  }
}

/** Returns the ports of one host: each call is a place for a crash or another fault. */
export function portsOf(
  host: SimulatedHost,
  shared: Shared,
  queues: SimulatedQueues,
  around: Surroundings,
): Pick<Ports, 'store' | 'queues' | 'publisher' | 'keys' | 'sender'> {
  return {
    store: storeOf(host, shared, around),
    queues: channelOf(host, queues, around),
    publisher: publisherOf(host, shared, around),
    keys: shared.keys,
    sender: shared.receivers?.senderFor(host),
  };
}

function storeOf(host: SimulatedHost, shared: Shared, around: Surroundings): Store {
  const { store, limits, database } = shared;
  const { faults } = around;
  const once = (made: PortCall, orderId: string | undefined): Promise<unknown> =>
    host.call(
      siteAt(made.site),
      // A process that crashes within the call leaves the effect of the first transaction only.
      (fault) => database.within(fault === 'crash applied' ? 1 : Number.POSITIVE_INFINITY, () => shared.applied(made)),
      { about: () => orderId },
    );
  const call = (made: PortCall, orderId = aboutOf(made)): Promise<unknown> =>
    limits ? limits.patiently(host, () => once(made, orderId)) : once(made, orderId);
  const port = instrumented('store', store, async (made) => (faultsAt[made.site] ? call(made) : made.apply()));
  return {
    ...port,
    head: (id) => {
      if (roleAtWork() === 'bulk') shared.onBulkTurn?.(host);
      return port.head(id);
    },
    load: async (id) => {
      if (roleAtWork() === 'operator') shared.onHolderTurn?.(host, id);
      const apply = async () => {
        const found = await store.load(id);
        const strange = found && host.strangeTo(found.state);
        if (strange) faults.lands(strange, 'store.load', { orderId: id });
        return found;
      };
      return call({ site: 'store.load', args: [id], apply }) as ReturnType<Store['load']>;
    },
    due: (...range) =>
      dueFor(shared, around, range, (apply) => call({ site: 'store.due', args: range, apply }) as ReturnType<Store['due']>),
    recordIntent: async (asking) => {
      const { requestId, completeBy = '' } = asking as typeof asking & Partial<Request>;
      host.record(notingAgent, { what: 'records intent', requestId, completeBy });
      const withdrawn = (apply: () => Promise<void>) => call({ site: 'store.withdraw', args: [], apply }, asking.orderId) as Promise<void>;
      const apply = async () => {
        const note = await store.recordIntent(asking);
        return note.outcome === 'recorded' ? { ...note, withdraw: () => withdrawn(note.withdraw) } : note;
      };
      return call({ site: 'store.recordIntent', args: [asking], apply }) as ReturnType<Store['recordIntent']>;
    },
    // Supervisors and operators read and write the states of services as well.
    breaker: (agent) => (roleAtWork() === 'agent' ? host.watch.readsBreaker(agent, () => port.breaker(agent)) : port.breaker(agent)),
    putBreaker: (...given) =>
      roleAtWork() === 'agent' ? host.watch.writesBreaker(given, () => port.putBreaker(...given)) : port.putBreaker(...given),
  };
}

/** Returns the order, agent or collection that a call concerns, if it is a single one. */
function aboutOf({ site, args: [first] }: PortCall): string | undefined {
  if (site === 'store.client' || site === 'store.due') return undefined;
  if (typeof first !== 'object') return typeof first === 'string' ? first : undefined;
  const { orderId, agent, collection } = first as { readonly [field: string]: string | undefined };
  return orderId ?? agent ?? collection;
}

/** The items of DynamoDB that a write stores under one partition key. */
const itemsOf: { readonly [site: string]: (args: never, blob: string) => readonly Item[] } = {
  'store.create': ([order, state]: Parameters<Store['create']>) => [orderItem(order), stateItem(state)],
  'store.update': ([state]: Parameters<Store['update']>) => [stateItem(state)],
  'store.patch': ([head]: Parameters<Store['patch']>, blob) => [stateItem({ ...head, blob })],
  'store.putPage': (page: Parameters<Store['putPage']>) => [pageItem(...page)],
  'store.putUndoPage': (page: Parameters<Store['putUndoPage']>) => [undoPageItem(...page)],
};

/** Reads the index, which only proposes orders: recent writes may be missing, and outdated entries may remain. */
async function dueFor(
  { store, last, hidden }: Shared,
  { timeline, faults, chance }: Surroundings,
  [worklist, shard, until, limit]: Parameters<Store['due']>,
  call: (apply: () => ReturnType<Store['due']>) => ReturnType<Store['due']>,
): ReturnType<Store['due']> {
  const asIndexed = (found: readonly string[]): readonly string[] => {
    const isLate = (id: string): boolean =>
      hidden.has(id) ||
      (timeline.now - (last.get(id)?.at ?? 0) < indexLagMs && faults.hits('index late', 'store.due', () => ({ orderId: id })));
    const seen = found.filter((id) => !isLate(id));
    if (last.size === 0 || !faults.chooses('index ghost')) return seen;
    const ghost = chance.pick([...last.keys()]);
    if (seen.includes(ghost)) return seen;
    faults.lands('index ghost', 'store.due', { orderId: ghost });
    return [...seen, ghost];
  };
  // Supervisors read so often that an empty answer takes no event of its own.
  const isDue = ({ shard: own, state }: Last) => own === shard && state.worklist === worklist && (state.worklistAt ?? 0) <= until;
  return some(last, isDue) ? call(async () => asIndexed(await store.due(worklist, shard, until, limit))) : asIndexed([]);
}

const channelOf = (host: SimulatedHost, queues: SimulatedQueues, around: Surroundings): Ports['queues'] => {
  const { faults, timeline } = around;
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
      const sent = host.call(
        siteAt('queues.send'),
        () => {
          // The messages before the refused one are sent, and the caller does not learn it.
          for (const message of messages) {
            if (isClosed(message.queue, message.body)) throw new Unavailable(`${message.queue} is closed.`);
            queues.send([message]);
          }
        },
        { about: () => (messages[0] ? queues.victimOn(messages[0].queue, messages[0].body).orderId : undefined) },
      );
      if (roleAtWork() === 'agent') host.watch.sends(messages, sent);
      return sent;
    },
    receive: notHere,
    acknowledge: (queue, receipts) => host.call(siteAt('queues.acknowledge'), () => queues.acknowledge(queue, receipts.map(idIn), host)),
    release: (queue, receipts, afterMs) => {
      for (const receipt of receipts) around.record({ type: 'visibility changed', messageId: idIn(receipt), afterMs });
      return host.call(siteAt('queues.release'), () => queues.release(queue, receipts, afterMs));
    },
    depth: (queue) => host.call(siteAt('queues.depth'), () => queues.depth(queue)),
  };
};

function publisherOf(host: SimulatedHost, shared: Shared, { faults, timeline }: Surroundings): Publisher {
  return {
    publish: (announcements) =>
      host.call(
        siteAt('publisher.publish'),
        () => {
          const victim = () => ({ orderId: orderIdIn(announcements[0]?.id) });
          const outage = { now: timeline.now, victim };
          if (faults.isDown('publisher gone for a day', 'bus', { ...outage, lastsMs: [day, day] }))
            throw new Unavailable('The bus is gone.');
          if (faults.isDown('publisher is down', 'bus', outage)) throw new Unavailable('The bus is down.');
          const failed = announcements.filter(() => faults.hits('not taken', 'publisher.publish', victim)).map(({ id }) => id);
          shared.publish(announcements.filter(({ id }) => !failed.includes(id)));
          return { failed };
        },
        { about: () => orderIdIn(announcements[0]?.id) },
      ),
  };
}

const idIn = (receipt: string): string => receipt.slice(0, receipt.indexOf('/'));

/** The id of an announcement begins with the id of its order. */
const orderIdIn = (id: string | undefined): string | undefined => /^ord_[A-Za-z0-9_-]+/.exec(id ?? '')?.[0];

/** Iterates without building a list, because it runs very often. */
function some<T>(all: ReadonlyMap<string, T>, is: (each: T) => boolean): boolean {
  for (const each of all.values()) if (is(each)) return true;
  return false;
}
