import { hash } from 'node:crypto';
import { parseWorkflowRef } from '#core/definition/workflow-ref';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { NewerMessageError, StateTooLargeError, UnreadableRecordError } from '#ports/errors';
import { queueNames, type Reply, type Request, type ToAgent, timeText } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { CallerRef, OrderRecord, StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { validatorOf } from '#ports/util/validation';
import { replyTo, replyToCall } from '#roles/scheduler/caller-reply';
import { decodeInstance } from '#roles/scheduler/instance';
import type { Scheduler } from '#roles/scheduler/scheduler';
import { bodyProblems, childIdOf } from '#roles/submission/submission';

/** The agent of calls: it starts, cancels and undoes the orders that other orders call. */
export type ChildOrders = (message: ToAgent) => Promise<void>;

/** Settings of the system that an order keeps from its creation. */
interface ChildOrderSettings {
  readonly stepMs: number;
  readonly maxFailures: number;
  readonly longWaitMs: number;
  readonly retentionMs: number | undefined;
}

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

type Failure = Extract<Reply['result'], { status: 'failed' }>['fault'];

/**
 * Creates the agent of calls. A child replies when it ends (see `replyToCaller`), so a repeated request means that a
 * message was lost. A request that only confirms whether the child exists cancels it, so that it ends and replies.
 */
export function createChildOrders({ store, queues, clock, telemetry, scheduler, definitions, config }: ChildOrdersOptions): ChildOrders {
  /** Processes one message. If the child's record cannot be read, a wake-up has the scheduler quarantine it. */
  return async (message) => {
    try {
      await take(message);
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      const { orderId, newerUntil = 0 } = error;
      if (newerUntil > clock.now()) throw new NewerMessageError(error.message);
      await scheduler.accept(orderId, [{ id: `unreadable@${orderId}`, type: 'wake-up' }], []);
      if (message.type === 'request' && message.operation !== 'undo') await replyLost(message, orderId);
    }
  };

  /** Reports a lost reply to the caller. A finished order is never repaired, so its caller would wait without end. */
  async function replyLost(request: Request, orderId: string): Promise<void> {
    const head = await store.head(orderId);
    if (head?.processState !== 'Processed') return;
    const message = `The called order ${orderId} ended as ${head.outcome}, but its record cannot be read: its reply is lost.`;
    await fail(request, { type: 'OutcomeUnknown', message, permanent: true, outcomeUnknown: true });
  }

  async function take(message: ToAgent): Promise<void> {
    if (message.type === 'cancel') return cancel(childIdOf(message.idempotencyKey));
    if (message.operation === 'undo') return undo(message);

    const child = await store.load(childIdOf(message.idempotencyKey));
    if (child) return continueWith(message, child);
    if (message.attempt > 1 && (await mayBeForgotten(message))) return replyForgotten(message);
    if (message.confirming) return preventStart(message);
    // The caller no longer waits for this attempt.
    if (clock.now() >= Date.parse(message.completeBy)) return telemetry.count('expired');
    return start(message);
  }

  /**
   * Whether a missing child may have been completed and deleted. A called order is kept as long as its caller, so a
   * missing one was never begun. Older versions deleted it after its own retention time.
   */
  async function mayBeForgotten({ orderId, path, idempotencyKey }: Request): Promise<boolean> {
    const { retentionMs } = config;
    const parent = retentionMs === undefined ? undefined : await store.load(orderId);
    if (!parent || retentionMs === undefined || clock.now() - parent.order.submittedAt < retentionMs) return false;
    const generation = idempotencyKey.slice(idempotencyKey.lastIndexOf('/') + 1);
    const requested = decodeInstance(parent.state).tail.find(
      (entry) => entry.type === 'StepRequested' && entry.path === path && entry.attemptId.startsWith(`${generation}#`),
    );
    return clock.now() - (requested?.at ?? 0) >= retentionMs;
  }

  function replyForgotten(request: Request): Promise<void> {
    const message = `The called order ${childIdOf(request.idempotencyKey)} may have been deleted after its retention time. It is unknown whether it completed.`;
    return fail(request, { type: 'OutcomeUnknown', message, permanent: true, outcomeUnknown: true });
  }

  async function continueWith(request: Request, child: Child): Promise<void> {
    const { outcome } = child.state;
    if (outcome !== null) return answer(replyOf(child));
    if (request.confirming) await cancel(child.order.orderId);
  }

  /**
   * Rebuilds the child's reply from its state. After a restore, a caller may repeat the call of an order that was since
   * undone for it; that order counts as not completed.
   */
  function replyOf({ order, state }: Child) {
    return replyToCall(order, decodeInstance(state).state, clock.now());
  }

  async function answer(reply: ReturnType<typeof replyOf>): Promise<void> {
    if (reply) await queues.send([{ queue: queueNames.callReplies, body: JSON.stringify(reply) }]);
  }

  function fail(request: Request, fault: Failure): Promise<void> {
    return answer(replyTo(callerOf(request), { status: 'failed', fault }, clock.now()));
  }

  async function start(request: Request): Promise<void> {
    const { name, version } = parseWorkflowRef(request.operation);
    const definition = definitions.program(name, version)?.definition;
    const parent = await store.load(request.orderId);
    // The version that sent the request has this workflow.
    if (!definition) throw new NewerMessageError(`The workflow ${request.operation} is not part of this app.`);
    if (!parent) return fail(request, { type: 'RequestRefused', message: `There is no order ${request.orderId}.`, permanent: true });

    const problems = bodyProblems(validatorOf(definition.order), request.input, '');
    if (problems.length > 0) {
      const message = `The input of ${request.operation} is invalid: ${problems.map(({ pointer, detail }) => `${pointer || '/'} ${detail.replace(/\.$/, '')}`).join('; ')}.`;
      return fail(request, { type: 'RequestRefused', message, permanent: true });
    }
    try {
      await scheduler.create(childOrder(request, parent.order, clock.now()), { claim: true, ...config });
    } catch (error) {
      if (!(error instanceof StateTooLargeError)) throw error;
      await fail(request, { type: 'StateTooLarge', message: error.message, permanent: true });
    }
  }

  /**
   * Makes sure that the child can never begin, so that the caller may treat the call as not done. A delayed message or a
   * paused host could still start it. A canceled order under the child's id prevents that, and its end is the reply.
   */
  async function preventStart(request: Request): Promise<void> {
    const { name, version } = parseWorkflowRef(request.operation);
    const parent = await store.load(request.orderId);
    if (!parent || !definitions.program(name, version))
      return fail(request, { type: 'NotDone', message: 'No order was created for this call.', permanent: true });
    const created = await scheduler.create(childOrder(request, parent.order, clock.now()), { claim: false, preventStart: true, ...config });
    if (created.outcome !== 'written') await take(request);
  }

  /** Cancels a child. A finished or ending one needs no cancellation. */
  async function cancel(orderId: string): Promise<void> {
    const reason = 'The calling order canceled it.';
    const instructed = await scheduler.instruct(orderId, { kind: 'cancel', by: 'workflows', reason }, { id: `cancel@${orderId}` });
    if (instructed.outcome === 'infeasible')
      telemetry.log('debug', 'cannot cancel child order', { orderId, reasons: instructed.reasons.join(' ') });
  }

  async function undo(request: Request): Promise<void> {
    const orderId = childIdOf(request.idempotencyKey.replace(/\/undo\/(\d+)$/, '/$1'));
    const child = await store.load(orderId);
    if (!child)
      return fail(request, {
        type: 'ChildUnknown',
        message: `The called order ${orderId} is no longer stored.`,
        permanent: true,
      });
    const { outcome } = child.state;
    if (outcome === 'completed') return scheduler.accept(orderId, [{ id: request.requestId, type: 'compensate' }], []);
    // Any other end means that its effects are undone, or that an operator decided to keep them.
    if (outcome !== null) await answer(replyTo(callerOf(request), { status: 'succeeded', output: {} }, clock.now()));
  }
}

const callerOf = ({ orderId, path, requestId, attempt, epoch }: Request): CallerRef => ({ orderId, path, requestId, attempt, epoch });

const childOrder = (request: Request, { client }: OrderRecord, now: number): OrderRecord => {
  const orderId = childIdOf(request.idempotencyKey);
  return {
    orderId,
    client,
    workflow: parseWorkflowRef(request.operation),
    body: request.input,
    hash: hash('sha256', JSON.stringify(request.input)),
    caller: callerOf(request),
    submittedAt: now,
    answer: JSON.stringify({ orderId, processState: 'Processing', submittedAt: timeText(now) }),
  };
};
