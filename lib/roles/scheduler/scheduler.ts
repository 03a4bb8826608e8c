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
  /** Names this host in claims and leases; unique to each process. */
  readonly hostId: string;
  readonly announceProcessed?: boolean;
  /** Largest difference between the clocks of two hosts. */
  readonly clockToleranceMs?: number;
  readonly lockPolicy?: LockPolicy;
  /** Called for each order that is blocked by an unhandled fault. The scheduler does not catch its errors. */
  readonly onTerminated?: (orderId: string, record: StateRecord) => void;
  /** Called for each order whose record cannot be processed. */
  readonly onServiceException?: (orderId: string, error: Error) => void;
}

/** Applies messages to an order: saves the new state in one conditional write, then sends the resulting messages. */
export interface Scheduler {
  /**
   * Applies messages for one order in one write. Requeues `again` after too many lost races, and while another host
   * holds the lease. If it rejects, the messages must be redelivered. Rejects with NewerMessageError when only a newer
   * version can read the order.
   */
  accept(orderId: string, incoming: readonly Incoming[], again: readonly Outgoing[]): Promise<void>;
  /** Creates an order in one write. `claim`: that write claims it. `preventStart`: that write cancels it before it begins. */
  create(order: OrderRecord, options: { readonly claim: boolean; readonly preventStart?: true } & Pinned): ReturnType<Store['create']>;
  readonly instruct: Instruct;
}

/** The outcome of one attempt. `throttled`: the store refused the write for lack of capacity; the order is unchanged. */
type Accepted =
  | { readonly outcome: 'written' }
  /** `alive`: the number of active activities of the order. */
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

  /** Writes a plan, fenced by the loaded rev. If the write is too large, `smaller` plans again within a byte budget. */
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

  /** Reports each fault that blocks the order once, also if the supervisor moved the order to Error. */
  function emitBlocked(before: Loaded, { order, record, instance }: Loaded): void {
    const { blocked: held } = instance.state;
    if (held && !isQuestion(held.fault) && held !== before.instance.state.blocked) options.onTerminated?.(order.orderId, record);
  }

  /**
   * Sends what follows from a stored write: the outbox first, then the requests. Announcements that the event bus has just
   * refused (`tried`) wait for a later attempt. Status messages are sent again now, because they must keep their order.
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
    /** Changes the stored outbox. After a lost race it changes the winning record: else the next reply proves an unsent entry. */
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
    // The reply to a request proves that the outbox was sent before it. Mark the entries that were not sent.
    if (record.outbox.some((entry) => isOpen(entry) && !entry.unproven))
      await touch((entry) => (isOpen(entry) && ids.has(entry.id) ? [{ ...entry, unproven: true as const }] : [entry]));
    await queues.send(sentWithPlan(saved.order, { requests, cancels, wakeUps }, [], clock.now()).messages);
    // Without requests, no reply will prove the outbox: remove the acknowledged entries now.
    if (requests.length === 0 && acknowledged.size > 0) await touch((entry) => (isOpen(entry) ? [entry] : []));
  }

  /**
   * Sends, or leaves it to the supervisor's wake-up: an API call succeeds once its write is stored. Messages do not need
   * this, because the queue redelivers them.
   */
  async function sendOrLeave({ record, instance }: Loaded, send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } catch (error) {
      if ((error as { fatal?: boolean }).fatal) throw error;
      telemetry.log('warn', 'stored order, but cannot send its messages yet', { orderId: record.orderId, error });
      telemetry.count('sendFailed');
      if (instance.lastRequested.length > 0) await markUnsent(record, options);
    }
  }

  /** Whether the last write applied one of these messages. Its host may have crashed before it sent the requests. */
  const isLastWrite = ({ record }: Loaded, incoming: readonly Incoming[]): boolean =>
    !store.writesAndSendsAtomically && incoming.some(({ id }) => record.lastBy.includes(id));

  /** Restores the usual deadline after the unsent requests were sent. */
  async function moveOn({ program, instance, record }: Loaded, now: number): Promise<'written' | 'lost'> {
    const due = withDeadline(program, instance, { ...record, rev: record.rev + 1 }, now);
    return (await store.patch(due, record)).outcome === 'written' ? 'written' : 'lost';
  }

  const sendAgain = (loaded: Loaded): Promise<void> =>
    sendAfter(loaded, { requests: outstandingRequests(loaded), cancels: [], wakeUps: [] });

  /** Plans a transition. Reads each undo page that the plan needs, then plans again from the start. */
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

  /** Plans one transition. Planning is pure, so any other error means that this order's instance is inconsistent. */
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
      throw new UnreadableRecordError(loaded.order.orderId, `its instance is inconsistent (${(error as Error).message})`);
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
      telemetry.log('debug', 'ignored stale reply', { orderId, requestId: each.requestId });
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

/** Whether a reply proves that the entry was sent: entries are sent before the requests of their write. */
const isProven = ({ unproven, provenBy = [] }: OutboxEntry, { taken }: PlannedWrite): boolean =>
  !unproven && provenBy.some((requestId) => taken.includes(requestId));

/** Returns a plan that only sends the outbox and stores the supervisor's notes. */
const unchanged = (loaded: Loaded, now: number, settings: Settings): PlannedWrite => ({
  ...withNotes(loaded, now, settings),
  requests: [],
  cancels: [],
  wakeUps: [],
  outbox: [],
  taken: loaded.record.lastBy,
});
