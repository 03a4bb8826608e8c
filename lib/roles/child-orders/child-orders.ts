import { keyOfUndone } from '#core/data/ids';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { NewerMessageError, UnreadableRecordError } from '#ports/errors';
import type { Request, ToAgent } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { replyToCall } from '#roles/scheduler/caller-reply';
import { decodeInstance } from '#roles/scheduler/instance';
import type { Scheduler } from '#roles/scheduler/scheduler';
import { childIdOf } from '#roles/submission/submission';
import { createCallReplies, unknownOutcome } from './replies.ts';
import { type ChildOrderSettings, preventStart, startChild } from './start.ts';

/** The agent of calls: it starts, cancels and undoes the orders that other orders call. */
export type ChildOrders = (message: ToAgent) => Promise<void>;

export interface ChildOrdersOptions {
  readonly store: Store;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly scheduler: Scheduler;
  readonly definitions: Definitions;
  readonly config: ChildOrderSettings;
}

interface Child {
  readonly order: OrderRecord;
  readonly state: StateRecord;
}

/**
 * Creates the agent of calls. A child, which is the called order, replies when it ends (`replyToCaller` of the scheduler), so a repeated
 * request means that a message was lost. A request that only confirms the outcome of a call is sent before the call is undone: it cancels
 * the child, so that the child ends and replies.
 */
export function createChildOrders(options: ChildOrdersOptions): ChildOrders {
  const { store, clock, telemetry, scheduler } = options;
  const replies = createCallReplies(options);
  const ports = { ...options, replies };

  async function take(message: ToAgent): Promise<void> {
    if (message.type === 'cancel') return cancel(childIdOf(message.idempotencyKey));
    if (message.operation === 'undo') return undo(message);

    const child = await store.load(childIdOf(message.idempotencyKey));
    if (child) return continueWith(message, child);
    if (message.attempt > 1 && (await mayBeForgotten(message, options))) return replies.fail(message, forgotten(message));
    if (message.confirming) return (await preventStart(message, ports)) === 'begun' ? take(message) : undefined;
    // The caller no longer waits for this attempt.
    if (clock.now() >= Date.parse(message.completeBy)) return telemetry.count('expired');
    return startChild(message, ports);
  }

  /**
   * Sends again the reply of a child that has ended, rebuilt from its state. Cancels a child at work if the call is to be undone. If the
   * table was restored, the record of the caller may be older than that of the child. The caller may then repeat a call that was undone
   * since: the reply says that the child did not complete.
   */
  async function continueWith(request: Request, child: Child): Promise<void> {
    const { order, state } = child;
    if (state.outcome !== null) return replies.send(replyToCall(order, decodeInstance(state).state, clock.now()));
    if (request.confirming) await cancel(child.order.orderId);
  }

  /** Cancels a child. A child that has ended, or is being undone, needs no cancellation. */
  async function cancel(orderId: string): Promise<void> {
    const reason = 'The calling order canceled this order.';
    const instructed = await scheduler.instruct(orderId, { kind: 'cancel', by: 'workflows', reason }, { id: `cancel@${orderId}` });
    if (instructed.outcome === 'infeasible')
      telemetry.log('debug', 'cannot cancel child order', { orderId, reasons: instructed.refusals.map(({ detail }) => detail).join(' ') });
  }

  async function undo(request: Request): Promise<void> {
    const orderId = childIdOf(keyOfUndone(request.idempotencyKey));
    const child = await store.load(orderId);
    const message = `The called order ${orderId} is no longer stored, so it cannot be undone. Undo its effects in the services, then mark this undo as done.`;
    if (!child) return replies.fail(request, { type: 'ChildUnknown', message, permanent: true });
    const { outcome } = child.state;
    if (outcome === 'completed') return scheduler.accept(orderId, [{ id: request.requestId, type: 'compensate' }], []);
    // Any other outcome means that the child's effects are undone, or that an operator decided to keep them.
    if (outcome !== null) await replies.succeed(request);
  }

  /** Reports a lost reply to the caller. A finished order is never repaired, so its caller would wait without end. */
  async function reportLostReply(request: Request, orderId: string): Promise<void> {
    const head = await store.head(orderId);
    if (head?.processState !== 'Processed') return;
    const message = `The called order ${orderId} ended as ${head.outcome}, but its record cannot be read, and the reply is lost. Check in the services what the order did.`;
    await replies.fail(request, unknownOutcome(message));
  }

  /** Processes one message. If the child's record cannot be read, a wake-up has the scheduler quarantine it. */
  return async (message) => {
    try {
      await take(message);
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      const { orderId, newerUntil = 0 } = error;
      // A newer release or app wrote the record. Until `newerUntil`, the message is left to a process that can read the record.
      if (newerUntil > clock.now()) throw new NewerMessageError(error.message);
      await scheduler.accept(orderId, [{ id: `unreadable@${orderId}`, type: 'wake-up' }], []);
      if (message.type === 'request' && message.operation !== 'undo') await reportLostReply(message, orderId);
    }
  };
}

/**
 * Whether a missing child may have been completed and deleted. A called order is kept as long as its caller, so a
 * missing one was normally never begun. But an older release deleted a called order after the retention time of that order.
 */
async function mayBeForgotten(
  { orderId, path, idempotencyKey }: Request,
  { store, clock, config: { retentionMs } }: Pick<ChildOrdersOptions, 'store' | 'clock' | 'config'>,
): Promise<boolean> {
  const parent = retentionMs === undefined ? undefined : await store.load(orderId);
  if (!parent || retentionMs === undefined || clock.now() - parent.order.submittedAt < retentionMs) return false;
  const generation = idempotencyKey.slice(idempotencyKey.lastIndexOf('/') + 1);
  const requested = decodeInstance(parent.state).tail.find(
    (entry) => entry.type === 'StepRequested' && entry.path === path && entry.attemptId.startsWith(`${generation}#`),
  );
  return clock.now() - (requested?.at ?? 0) >= retentionMs;
}

const forgotten = ({ idempotencyKey }: Request) =>
  unknownOutcome(
    `The called order ${childIdOf(idempotencyKey)} may have been deleted after its retention time. It is unknown whether it completed. Check in the services what it did.`,
  );
