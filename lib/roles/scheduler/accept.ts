import { InvariantError, isDamage, StoreUnavailableError } from '#ports/errors';
import { delayMaxMs, type Outgoing } from '#ports/queues';
import type { Telemetry } from '#ports/telemetry';
import { keepWhileLocked } from './inbox.ts';
import { isHeldByOther, isLocked } from './lease.ts';
import type { Orders } from './orders.ts';
import { attemptsMax, pauseMs, postponedMs } from './races.ts';
import type { SendingPorts } from './sending.ts';
import { withNotes } from './transition.ts';
import type { Incoming, Loaded, PlannedWrite, Settings } from './types.ts';
import { isUnsent } from './unsent.ts';
import { quarantineUnworkable, type UnworkablePorts } from './unworkable.ts';
import type { Writer } from './writer.ts';

type AcceptOptions = SendingPorts & UnworkablePorts;

interface AcceptTools {
  readonly orders: Orders;
  readonly writer: Writer;
  readonly settings: Settings;
}

/**
 * Applies messages for one order in one write. `again`: the messages as they were received. They are requeued after too many lost races,
 * if the store lacks capacity, and while another host holds the lease. They are kept while a person has locked the order.
 * If `accept` rejects, the messages must be redelivered. Rejects with NewerMessageError when only a newer app or release can read the
 * order.
 */
export type Accept = (orderId: string, incoming: readonly Incoming[], again: readonly Outgoing[]) => Promise<void>;

/** The outcome of one attempt. `throttled`: the store refused the write for lack of capacity; the order is unchanged. */
type Accepted =
  | { readonly outcome: 'written' }
  /** `alive`: the number of active activities of the order. */
  | { readonly outcome: 'lost' | 'throttled'; readonly alive: number };

export function createAccept(options: AcceptOptions, { orders, writer, settings }: AcceptTools): Accept {
  const { queues, clock, telemetry } = options;
  const { hostId } = settings;

  async function acceptOnce(read: Orders['load'], ...[orderId, incoming, again]: Parameters<Accept>): Promise<Accepted> {
    const loaded = await read(orderId);
    if (!loaded) {
      telemetry.count('unknownOrder', incoming.length);
      return { outcome: 'written' };
    }
    const now = clock.now();
    if (isLocked(loaded.record, now)) {
      // The supervisor wakes the order when its lock ends.
      if (!incoming.every(({ type }) => type === 'wake-up')) await keepWhileLocked(options, orderId, again);
      return { outcome: 'written' };
    }
    if (isHeldByOther(loaded.record, hostId, now)) {
      await requeue(again, Math.min((loaded.record.heldUntil ?? now) - now, delayMaxMs));
      return { outcome: 'written' };
    }
    // The next write replaces the requests of the last one, so unsent ones are sent first. A rebuilt instance is always written: that
    // write also replaces `lastBy`, which shows that a redelivered message was applied.
    const isSentFirst = isUnsent(loaded.record) || (loaded.rebuilt === true && isLastWrite(loaded, incoming));
    if (isSentFirst) await writer.sendAgain?.(loaded);
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
    if (writer.sendAgain && isLastWrite(loaded, incoming)) await writer.sendAgain(loaded);
    else if (isUnsent(record)) return writer.restoreDeadline(loaded, now);
    else if (record.outbox.length > 0) return writer.save(loaded, unchanged(loaded, now, settings));
    return 'written';
  }

  async function requeue(messages: readonly Outgoing[], delayMs: number): Promise<void> {
    telemetry.count('postedAnew', messages.length);
    await queues.send(messages.map((message) => ({ ...message, delayMs })));
  }

  return async (orderId, incoming, again) => {
    for (let attempt = 1; ; attempt++) {
      if (attempt > 1) await clock.sleep(pauseMs(`${hostId}/${orderId}`, attempt));
      const accepted = await withReadable(orders, (read) => acceptOnce(read, orderId, incoming, again)).catch((error) =>
        quarantineUnworkable(orderId, incoming, error, options),
      );
      if (accepted.outcome === 'written') return;
      const { outcome, alive } = accepted;
      if (outcome === 'throttled' || attempt === attemptsMax)
        return await requeue(again, postponedMs(`${hostId}/${orderId}/${clock.now()}`, alive));
    }
  };
}

/** Works on the order as it is stored. If it cannot be read or is inconsistent, works on the instance that its journal tells (F-160). */
async function withReadable<T>({ load, refold }: Orders, work: (read: Orders['load']) => Promise<T>): Promise<T> {
  try {
    return await work(load);
  } catch (error) {
    if (!isDamage(error) && !(error instanceof InvariantError)) throw error;
    return await work(refold).catch((second) => {
      // The reason of a refused rebuild explains damage, but not an invariant.
      throw error instanceof InvariantError && isDamage(second) ? error : second;
    });
  }
}

/** Whether the last write applied one of these messages. The host of that write may have crashed before it sent the requests. */
const isLastWrite = ({ record }: Loaded, incoming: readonly Incoming[]): boolean => incoming.some(({ id }) => record.lastBy.includes(id));

function countIgnored(telemetry: Telemetry, orderId: string, incoming: readonly Incoming[], planned: PlannedWrite | undefined): void {
  for (const each of incoming) {
    if (each.type !== 'reply' || planned?.taken.includes(each.id)) continue;
    telemetry.count('staleReply');
    telemetry.log('debug', 'ignored stale reply', { orderId, requestId: each.requestId });
  }
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
