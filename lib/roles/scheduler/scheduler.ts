import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { StoreUnavailableError } from '#ports/errors';
import type { Publisher } from '#ports/event-bus';
import { wakeUpOf } from '#ports/messages';
import { delayMaxMs, type Outgoing, type Queues } from '#ports/queues';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { hashOf } from '#roles/definitions/pinning';
import { createInstructing, type Instruct } from '#roles/operator/instruct';
import { decodeInstance, newRecord, type Pinned } from './instance.ts';
import { isHeldByOther, type LockPolicy } from './lease.ts';
import { createOrders } from './orders.ts';
import { attemptsMax, pauseMs, postponedMs } from './races.ts';
import { byteBudgetOf, fitted } from './size-limit.ts';
import { type Beginning, newTransition, withNotes } from './transition.ts';
import type { Incoming, Loaded, PlannedWrite, Settings } from './types.ts';
import { isUnsent } from './unsent.ts';
import { quarantineUnworkable } from './unworkable.ts';
import { createWriter } from './writer.ts';

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
  /** Called for each order that is blocked by an unhandled fault. The scheduler logs its errors. */
  readonly onTerminated?: (orderId: string, record: StateRecord) => void;
  /** Called for each order whose record cannot be processed. The scheduler logs its errors. */
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

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { store, queues, clock, telemetry, definitions, hostId, announceProcessed = false, clockToleranceMs = 0 } = options;
  const settings: Settings = { hostId, announceProcessed, clockToleranceMs, isOutput: definitions.isOutput };
  const orders = createOrders({ store, definitions, settings });
  const writer = createWriter(options);

  async function acceptOnce(orderId: string, incoming: readonly Incoming[], again: readonly Outgoing[]): Promise<Accepted> {
    const loaded = await orders.load(orderId);
    if (!loaded) {
      telemetry.count('unknownOrder', incoming.length);
      return { outcome: 'written' };
    }
    const now = clock.now();
    if (isHeldByOther(loaded.record, hostId, now)) {
      await requeue(again, Math.min((loaded.record.heldUntil ?? now) - now, delayMaxMs));
      return { outcome: 'written' };
    }
    if (isUnsent(loaded.record)) await writer.sendAgain?.(loaded);
    const planned = await orders.planOf(loaded, incoming, now);
    countIgnored(telemetry, orderId, incoming, planned);
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
    const { record } = loaded;
    if (planned) return writer.save(loaded, planned, { replan: (byteBudget) => orders.planOf(loaded, incoming, now, byteBudget) });
    // The last write applied one of these messages, and its host may have crashed before it sent the requests.
    const isLastWrite = writer.sendAgain !== undefined && incoming.some(({ id }) => record.lastBy.includes(id));
    if (isLastWrite) await writer.sendAgain?.(loaded);
    else if (isUnsent(record)) return writer.restoreDeadline(loaded, now);
    else if (record.outbox.length > 0) return writer.save(loaded, unchanged(loaded, now, settings));
    return 'written';
  }

  async function requeue(messages: readonly Outgoing[], delayMs: number): Promise<void> {
    telemetry.count('postedAnew', messages.length);
    await queues.send(messages.map((message) => ({ ...message, delayMs })));
  }

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
      const now = clock.now();
      const loaded = newOrder(definitions, order, pinned);
      const planned = fittingNew(loaded, preventStart ? 'never' : claim ? 'now' : 'later', now, settings);
      return writer.create(loaded, planned, now, claim || preventStart ? [] : [wakeUpOf(order, now)]);
    },

    instruct: createInstructing(options, orders, writer),
  };
}

function countIgnored(telemetry: Telemetry, orderId: string, incoming: readonly Incoming[], planned: PlannedWrite | undefined): void {
  for (const each of incoming) {
    if (each.type !== 'reply' || planned?.taken.includes(each.id)) continue;
    telemetry.count('staleReply');
    telemetry.log('debug', 'ignored stale reply', { orderId, requestId: each.requestId });
  }
}

function newOrder(definitions: Definitions, order: OrderRecord, pinned: Pinned): Loaded {
  const { name, version } = order.workflow;
  const program = definitions.program(name, version);
  if (!program) throw new Error(`The workflow ${name}@${version} is not part of this app.`);
  const record = newRecord(order, program.definition, { ...pinned, hash: hashOf(program.definition) });
  return { program, order, record, instance: decodeInstance(record) };
}

function fittingNew(loaded: Loaded, begin: Beginning, now: number, settings: Settings): PlannedWrite {
  const planned = newTransition(loaded, begin, now, settings);
  const byteBudget = byteBudgetOf(fitted(planned.record, planned.instance), planned.instance);
  return byteBudget === undefined ? planned : newTransition(loaded, begin, now, { ...settings, byteBudget });
}

/** Returns a plan that only sends the outbox and stores the supervisor's notes. */
const unchanged = (loaded: Loaded, now: number, settings: Settings): PlannedWrite => ({
  ...withNotes(loaded, now, settings),
  requests: [],
  cancels: [],
  wakeUps: [],
  outbox: [],
  taken: loaded.record.lastBy,
});
