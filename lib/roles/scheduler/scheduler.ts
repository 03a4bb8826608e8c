import { isQuestion } from '#core/data/fault';
import type { UndoPage } from '#core/data/state';
import type { Program } from '#core/definition/program';
import type { ByteBudget } from '#core/engine/transition';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { InvariantError, rolloutMs, StoreUnavailableError, UnreadableRecordError } from '#ports/errors';
import type { Publisher } from '#ports/event-bus';
import { wakeUpOf } from '#ports/messages';
import { delayMaxMs, inGroup, type Outgoing, type Queues } from '#ports/queues';
import type { OrderRecord, OutboxEntry, StateRecord } from '#ports/records';
import type { SentWithWrite, Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { allSettledOrThrow } from '#ports/util/all-settled';
import { changedReason, hashOf } from '#roles/definitions/pinning';
import { createInstructing, type Instruct } from '#roles/operator/instruct';
import { decodeInstance, journal, newRecord, type Pinned } from './instance.ts';
import { logJournal } from './journal-log.ts';
import { isHeldByOther, type LockPolicy, racesMax } from './lease.ts';
import { isUndeliverable, noticesOf, sendEntries, undeliverable } from './outbox.ts';
import { type Paged, pagedOut, undoPageOf } from './paging.ts';
import { attemptsMax, pauseMs, postponedMs } from './races.ts';
import { outstandingRequests } from './resend.ts';
import { sentWithPlan } from './sent-along.ts';
import { byteBudgetOf, fitted, refuseImpossible } from './size-limit.ts';
import { type Beginning, newTransition, transition, withDeadline, withNotes } from './transition.ts';
import type { Incoming, Loaded, NeedsPage, PlannedWrite, Settings } from './types.ts';
import { isUnsent, markUnsent } from './unsent.ts';
import { quarantineUnworkable } from './unworkable.ts';

export interface SchedulerOptions {
  readonly store: Store;
  readonly queues: Queues;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly definitions: Definitions;
  /** Names this host in claims and leases; different for every process. */
  readonly hostId: string;
  readonly announceProcessed?: boolean;
  /** How far the clocks of hosts may be apart. */
  readonly clockToleranceMs?: number;
  readonly lockPolicy?: LockPolicy;
  /** Told of every order that is held for an unhandled fault; what it throws is its own affair. */
  readonly onTerminated?: (orderId: string, record: StateRecord) => void;
  /** Told of every order whose record can't be worked on. */
  readonly onServiceException?: (orderId: string, error: Error) => void;
}

/** Applies what happened to an order, saves the new state in one conditional write, then sends what follows from it. */
export interface Scheduler {
  /**
   * Takes in messages for one order, in one write. `again` posts them anew: after too many lost races, and while
   * somebody holds the instance. A rejection means that nothing is known to have happened: deliver them once more. Where only
   * a newer version can read the order, it is a NewerMessageError.
   */
  accept(orderId: string, incoming: readonly Incoming[], again: readonly Outgoing[]): Promise<void>;
  /** Creates an order, claimed in the same write unless `claim` says otherwise; an `unwanted` one is canceled in that write. */
  create(order: OrderRecord, options: { readonly claim: boolean; readonly preventStart?: true } & Pinned): ReturnType<Store['create']>;
  readonly instruct: Instruct;
}

/** What one attempt comes to. `throttled`: the store took no more; the order is as it was. */
type Accepted =
  | { readonly outcome: 'written' }
  /** `alive`: how many activities the order had. */
  | { readonly outcome: 'lost' | 'throttled'; readonly alive: number };

type Replan = (byteBudget: ByteBudget) => Promise<PlannedWrite | undefined>;

const writeIdsKept = 4;

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { store, queues, clock, telemetry, definitions, hostId } = options;
  const { announceProcessed = false, clockToleranceMs = 0 } = options;
  const settings = { hostId, announceProcessed, clockToleranceMs, isOutput: definitions.isOutput };
  let writes = 0;

  const portsFor = ({ order: { client } }: Loaded) => ({ ...options, queues: inGroup(queues, client) });

  async function load(orderId: string): Promise<Loaded | undefined> {
    const found = await store.load(orderId);
    if (!found) return undefined;
    return { program: programOf(orderId, found.state), order: found.order, record: found.state, instance: decodeInstance(found.state) };
  }

  function programOf(orderId: string, record: StateRecord): Program {
    const program = definitions.programOf(record);
    if (program) return program;
    const { name, version } = record.workflow;
    const { submittedAt } = record;
    if (definitions.program(name, version)) throw new UnreadableRecordError(orderId, changedReason(name, version), submittedAt + rolloutMs);
    const newest = definitions.newest(name)?.definition.version ?? 0;
    const newerUntil = version > newest ? submittedAt + rolloutMs : 0;
    throw new UnreadableRecordError(orderId, `its workflow ${name}@${version} is not part of this app`, newerUntil);
  }

  /** One write of a plan, fenced by what was loaded. What would be too large is planned anew, with so much room. */
  async function save(
    loaded: Loaded,
    planned: PlannedWrite,
    smaller?: Replan,
    sending: typeof sendOrLeave = (_, send) => send(),
  ): Promise<'written' | 'lost'> {
    const { orderId } = loaded.order;
    const now = clock.now();
    const open = loaded.record.outbox.filter((entry) => !isProven(entry, planned));
    const acknowledged = store.writesAndSendsAtomically ? new Set(open.map(({ id }) => id)) : await sendEntries(open, portsFor(loaded));
    const unsent = open.filter(({ id }) => !acknowledged.has(id));
    const kept = unsent.filter((entry) => !isUndeliverable(entry, now));
    const givenUp = unsent.filter((entry) => isUndeliverable(entry, now));
    const added = planned.outbox.map((entry) => ({ ...entry, provenBy: planned.requests.map(({ requestId }) => requestId) }));

    const { instance: left, ...paged } = pagedOut(loaded, planned.instance);
    if (!store.writesAndSendsAtomically) await pageOut(loaded, paged);
    const instance = journal(left, undeliverable(givenUp), now);
    const id = `${hostId}:${++writes}`;
    const rev = loaded.record.rev + 1;
    const outbox = store.writesAndSendsAtomically ? [] : [...kept, ...added, ...noticesOf(loaded.record, givenUp, now)];
    const writeIds = [...loaded.record.writeIds, { id, rev }].slice(-writeIdsKept);
    const dated = withDeadline(loaded.program, instance, { ...planned.record, rev, outbox, writeIds }, now);
    const written = fitted(dated, instance);
    const byteBudget = byteBudgetOf(written, instance);
    const fitting = byteBudget === undefined ? undefined : await smaller?.(byteBudget);
    if (fitting) return save(loaded, fitting, undefined, sending);
    refuseImpossible(written);

    const { record, overflow } = written;
    const sent = store.writesAndSendsAtomically
      ? { ...paged, ...sentWithPlan(loaded.order, planned, [...open, ...planned.outbox], now) }
      : nothing;
    const along = { ...sent, overflow };
    const write = await store.update(record, loaded.record, along);
    if (write.outcome === 'refused' && !write.current?.writeIds.some((mine) => mine.id === id)) {
      telemetry.count('raceLost');
      return 'lost';
    }
    logJournal(telemetry, orderId, instance, loaded.instance.seq);
    emitBlocked(loaded, { ...loaded, record, instance });
    if (store.writesAndSendsAtomically) return 'written';
    const saved = { ...loaded, record, instance };
    await sending(saved, () => sendAfter(saved, planned, new Set(kept.map(({ id: tried }) => tried))));
    return 'written';
  }

  async function pageOut({ record: { orderId, rev } }: Loaded, { page, undoPage }: Omit<Paged, 'instance'>): Promise<void> {
    await allSettledOrThrow([
      ...(page ? [store.putPage(orderId, rev, page)] : []),
      ...(undoPage ? [store.putUndoPage(orderId, rev, undoPage)] : []),
    ]);
  }

  /** Every hold for a fault is told of once, whoever put the order into Error. */
  function emitBlocked(before: Loaded, { order, record, instance }: Loaded): void {
    const { blocked: held } = instance.state;
    if (held && !isQuestion(held.fault) && held !== before.instance.state.blocked) options.onTerminated?.(order.orderId, record);
  }

  /**
   * The other half of write-then-send: outbox first, each entry acknowledged, then the requests. What the bus did not take
   * just now (`tried`) has its turn later; a client's messages are tried again, for none may overtake another.
   */
  async function sendAfter(
    saved: Loaded,
    { requests, cancels, wakeUps }: Pick<PlannedWrite, 'requests' | 'cancels' | 'wakeUps'>,
    tried: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    let { record } = saved;
    const untried = record.outbox.filter(({ id, kind }) => kind === 'status' || !tried.has(id));
    const acknowledged = await sendEntries(untried, portsFor(saved));
    const ids = new Set(record.outbox.map(({ id }) => id));
    const isOpen = ({ id }: OutboxEntry): boolean => !acknowledged.has(id);
    /** Who loses the race for it tries it on what has won: what is sent next must not prove what was not sent. */
    const touch = async (change: (entry: OutboxEntry) => readonly OutboxEntry[]) => {
      for (let race = 1; race <= racesMax; race++) {
        const outbox = record.outbox.flatMap(change);
        const { state } = decodeInstance(record);
        const touched = withDeadline(saved.program, { ...saved.instance, state }, { ...record, rev: record.rev + 1, outbox }, clock.now());
        const write = await store.patch(touched, record);
        if (write.outcome === 'written') record = { ...touched, blob: record.blob };
        if (write.outcome === 'written' || !write.current) return;
        record = write.current;
      }
    };
    // Requests prove by their replies that the outbox went before them; an entry that did not must say so first.
    if (record.outbox.some((entry) => isOpen(entry) && !entry.unproven))
      await touch((entry) => (isOpen(entry) && ids.has(entry.id) ? [{ ...entry, unproven: true as const }] : [entry]));
    await queues.send(sentWithPlan(saved.order, { requests, cancels, wakeUps }, [], clock.now()).messages);
    // No reply will come that could prove anything: clear what was acknowledged now.
    if (requests.length === 0 && acknowledged.size > 0) await touch((entry) => (isOpen(entry) ? [entry] : []));
  }

  /**
   * Who waits for an answer asked that it be stored, and it is: what could not be sent then is sent when the supervisor wakes the
   * order. A message needs no such mercy, for it comes again.
   */
  async function sendOrLeave({ record, instance }: Loaded, send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } catch (error) {
      if ((error as { fatal?: boolean }).fatal) throw error;
      telemetry.log('warn', 'order stored, but what it needs is not sent yet', { orderId: record.orderId, error });
      telemetry.count('sendFailed');
      if (instance.lastRequested.length > 0) await markUnsent(record, options);
    }
  }

  /** The message's own write may be the last one, with nothing sent after it: then that is sent again, without writing. */
  const isLastWrite = ({ record }: Loaded, incoming: readonly Incoming[]): boolean =>
    !store.writesAndSendsAtomically && incoming.some(({ id }) => record.lastBy.includes(id));

  /** The requests have been sent after all: their usual deadline applies. */
  async function moveOn({ program, instance, record }: Loaded, now: number): Promise<'written' | 'lost'> {
    const due = withDeadline(program, instance, { ...record, rev: record.rev + 1 }, now);
    return (await store.patch(due, record)).outcome === 'written' ? 'written' : 'lost';
  }

  const sendAgain = (loaded: Loaded): Promise<void> =>
    sendAfter(loaded, { requests: outstandingRequests(loaded), cancels: [], wakeUps: [] });

  /** A page of what can be undone that the plan turns out to need is read, and everything is planned anew. */
  async function planOf(
    loaded: Loaded,
    incoming: readonly Incoming[],
    now: number,
    byteBudget?: ByteBudget,
  ): Promise<PlannedWrite | undefined> {
    const { orderId } = loaded.order;
    const undoPages = new Map<number, UndoPage>();
    for (;;) {
      const planned = planWith({ ...loaded, undoPages }, incoming, now, byteBudget);
      if (!planned || !('needs' in planned)) return planned;
      undoPages.set(planned.needs, await undoPageOf(store, orderId, planned.needs));
    }
  }

  function fittingNew(loaded: Loaded, begin: Beginning, now: number): PlannedWrite {
    const planned = newTransition(loaded, begin, now, settings);
    const byteBudget = byteBudgetOf(fitted(planned.record, planned.instance), planned.instance);
    return byteBudget === undefined ? planned : newTransition(loaded, begin, now, { ...settings, byteBudget });
  }

  /** A plan is pure: whatever it throws comes of an instance that makes no sense, and concerns this order alone. */
  function planWith(
    loaded: Loaded,
    incoming: readonly Incoming[],
    now: number,
    byteBudget?: ByteBudget,
  ): PlannedWrite | NeedsPage | undefined {
    try {
      return transition(loaded, incoming, now, { ...settings, byteBudget });
    } catch (error) {
      if (error instanceof InvariantError) throw error;
      throw new UnreadableRecordError(loaded.order.orderId, `its instance makes no sense (${(error as Error).message})`);
    }
  }

  async function acceptOnce(orderId: string, incoming: readonly Incoming[], again: readonly Outgoing[]): Promise<Accepted> {
    const loaded = await load(orderId);
    if (!loaded) {
      telemetry.count('unknownOrder', incoming.length);
      return { outcome: 'written' };
    }
    const now = clock.now();
    if (isHeldByOther(loaded.record, hostId, now)) {
      await requeue(again, Math.min((loaded.record.heldUntil ?? now) - now, delayMaxMs));
      return { outcome: 'written' };
    }
    if (isUnsent(loaded.record)) await sendAgain(loaded);
    const planned = await planOf(loaded, incoming, now);
    countIgnored(orderId, incoming, planned);
    const alive = Object.keys(loaded.instance.state.activities).length;
    try {
      return { outcome: await carryOut(loaded, incoming, planned, now), alive };
    } catch (error) {
      if (error instanceof StoreUnavailableError && error.throttled) return { outcome: 'throttled', alive };
      throw error;
    }
  }

  async function carryOut(
    loaded: Loaded,
    incoming: readonly Incoming[],
    planned: PlannedWrite | undefined,
    now: number,
  ): Promise<'written' | 'lost'> {
    if (planned) return save(loaded, planned, (byteBudget) => planOf(loaded, incoming, now, byteBudget));
    if (isLastWrite(loaded, incoming)) await sendAgain(loaded);
    else if (isUnsent(loaded.record)) return moveOn(loaded, now);
    else if (loaded.record.outbox.length > 0) return save(loaded, unchanged(loaded, now, settings));
    return 'written';
  }

  function countIgnored(orderId: string, incoming: readonly Incoming[], planned: PlannedWrite | undefined): void {
    for (const each of incoming) {
      if (each.type !== 'reply' || planned?.taken.includes(each.id)) continue;
      telemetry.count('staleReply');
      telemetry.log('debug', 'reply ignored: nobody waits for it', { orderId, requestId: each.requestId });
    }
  }

  async function requeue(messages: readonly Outgoing[], delayMs: number): Promise<void> {
    telemetry.count('postedAnew', messages.length);
    await queues.send(messages.map((message) => ({ ...message, delayMs })));
  }

  const instruct = createInstructing(options, {
    load,
    programOf,
    planOf,
    save: (loaded, planned, smaller) => save(loaded, planned, smaller, sendOrLeave),
  });

  return {
    async accept(orderId, incoming, again) {
      for (let attempt = 1; ; attempt++) {
        if (attempt > 1) await clock.sleep(pauseMs(`${hostId}/${orderId}`, attempt));
        const accepted = await acceptOnce(orderId, incoming, again).catch((error) =>
          quarantineUnworkable(orderId, incoming, error, options),
        );
        if (accepted.outcome === 'written') return;
        const { outcome, alive } = accepted;
        if (outcome === 'throttled' || attempt === attemptsMax)
          return await requeue(again, postponedMs(`${hostId}/${orderId}/${clock.now()}`, alive));
      }
    },

    async create(order, { claim, preventStart, ...pinned }) {
      const { name, version } = order.workflow;
      const program = definitions.program(name, version);
      if (!program) throw new Error(`The workflow ${name}@${version} is not part of this app.`);
      const now = clock.now();
      const record = newRecord(order, program.definition, { ...pinned, hash: hashOf(program.definition) });
      const loaded: Loaded = { program, order, record, instance: decodeInstance(record) };
      const planned = fittingNew(loaded, preventStart ? 'never' : claim ? 'now' : 'later', now);

      const added = planned.outbox.map((entry) => ({ ...entry, provenBy: planned.requests.map(({ requestId }) => requestId) }));
      const writeIds = [{ id: `${hostId}:${++writes}`, rev: 1 }];
      const outbox = store.writesAndSendsAtomically ? [] : added;
      const written = fitted(
        withDeadline(program, planned.instance, { ...planned.record, rev: 1, outbox, writeIds }, now),
        planned.instance,
      );
      refuseImpossible(written);
      const { record: state, overflow } = written;
      const wakeUp = claim || preventStart ? [] : [wakeUpOf(order, now)];
      const sent = sentWithPlan(order, planned, planned.outbox, now);
      const sentWithWrite = store.writesAndSendsAtomically ? { ...sent, messages: [...sent.messages, ...wakeUp] } : nothing;

      const created = await store.create(order, state, { ...sentWithWrite, overflow });
      if (created.outcome === 'written') logJournal(telemetry, order.orderId, planned.instance, 0);
      if (created.outcome === 'written') emitBlocked(loaded, { program, order, record: state, instance: planned.instance });
      if (created.outcome !== 'written' || store.writesAndSendsAtomically) return created;
      const saved: Loaded = { program, order, record: state, instance: planned.instance };
      await sendOrLeave(saved, async () => {
        await sendAfter(saved, planned);
        await queues.send(wakeUp);
      });
      return created;
    },

    instruct,
  };
}

const nothing: SentWithWrite = { messages: [], announcements: [] };

/** An entry went out before the requests of its write: the reply to one of them proves it. */
const isProven = ({ unproven, provenBy = [] }: OutboxEntry, { taken }: PlannedWrite): boolean =>
  !unproven && provenBy.some((requestId) => taken.includes(requestId));

/** Only the outbox is sent; what the supervisor noted goes along with any write of the whole. */
const unchanged = (loaded: Loaded, now: number, settings: Settings): PlannedWrite => ({
  ...withNotes(loaded, now, settings),
  requests: [],
  cancels: [],
  wakeUps: [],
  outbox: [],
  taken: loaded.record.lastBy,
});
