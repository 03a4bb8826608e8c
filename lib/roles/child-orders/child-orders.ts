import { hash } from 'node:crypto';
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

/** The agent behind calls: starts the orders that other orders call, cancels them, and has them undone. */
export type ChildOrders = (message: ToAgent) => Promise<void>;

/** Settings of the system that an order takes on when it begins. */
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
 * A child answers by itself when it ends (see `replyToCaller`). What is asked here once more was lost on its way, or it
 * is only asked whether the child exists: then it is canceled, so that the answer comes.
 */
export function createChildOrders({ store, queues, clock, telemetry, scheduler, definitions, config }: ChildOrdersOptions): ChildOrders {
  /** An order whose record cannot be read is put before a person: what is asked of it again and again would end there too. */
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

  /** What is finished is never mended: whoever waits for its answer would wait for ever. */
  async function replyLost(request: Request, orderId: string): Promise<void> {
    const head = await store.head(orderId);
    if (head?.processState !== 'Processed') return;
    const message = `The order ${orderId} that was called ended as ${head.outcome}. Its record cannot be read: its answer is lost.`;
    await fail(request, { type: 'OutcomeUnknown', message, permanent: true, outcomeUnknown: true });
  }

  async function take(message: ToAgent): Promise<void> {
    if (message.type === 'cancel') return cancel(childIdOf(message.idempotencyKey));
    if (message.operation === 'undo') return undo(message);

    const child = await store.load(childIdOf(message.idempotencyKey));
    if (child) return continueWith(message, child);
    if (message.attempt > 1 && (await mayBeForgotten(message))) return replyForgotten(message);
    if (message.confirming) return preventStart(message);
    // Nobody waits for it any more.
    if (clock.now() >= Date.parse(message.completeBy)) return telemetry.count('expired');
    return start(message);
  }

  /**
   * An order that was called is kept as long as the one that called it: where it is not there, it was never begun, and the
   * request for it got lost. An older version forgot it after its own retention: then it was completed, perhaps.
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
    const message = `The order ${childIdOf(request.idempotencyKey)} was called so long ago that it may be forgotten. Nobody knows whether it was completed.`;
    return fail(request, { type: 'OutcomeUnknown', message, permanent: true, outcomeUnknown: true });
  }

  async function continueWith(request: Request, child: Child): Promise<void> {
    const { outcome } = child.state;
    if (outcome !== null) return answer(replyOf(child));
    if (request.confirming) await cancel(child.order.orderId);
  }

  /**
   * The child's own answer, made again from its state. After a restore, a caller may call an order that was undone for it
   * since: this order was not completed.
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
    const { name, version } = workflowOf(request);
    const definition = definitions.program(name, version)?.definition;
    const parent = await store.load(request.orderId);
    // Whoever asked has it, or could not have been loaded.
    if (!definition) throw new NewerMessageError(`There is no workflow ${request.operation} in this app.`);
    if (!parent) return fail(request, { type: 'RequestRefused', message: `There is no order ${request.orderId}.`, permanent: true });

    const problems = bodyProblems(validatorOf(definition.order), request.input, '');
    if (problems.length > 0) {
      const message = `The body is not what ${request.operation} takes: ${problems.map(({ pointer, detail }) => `${pointer || '/'} ${detail}`).join('; ')}.`;
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
   * That it was not begun is true for good only if it can't be begun any more, by a message that is still on its way or a
   * host that stood still. No clock says so, but an order in its place that was canceled before it began; its end answers.
   */
  async function preventStart(request: Request): Promise<void> {
    const { name, version } = workflowOf(request);
    const parent = await store.load(request.orderId);
    if (!parent || !definitions.program(name, version))
      return fail(request, { type: 'NotDone', message: 'No order was made for this call.', permanent: true });
    const created = await scheduler.create(childOrder(request, parent.order, clock.now()), { claim: false, preventStart: true, ...config });
    if (created.outcome !== 'written') await take(request);
  }

  /** It may be finished already, or be under way to its end: then there is nothing to cancel. */
  async function cancel(orderId: string): Promise<void> {
    const reason = 'The order that called it does not want it any more.';
    const instructed = await scheduler.instruct(orderId, { kind: 'cancel', by: 'workflows', reason }, { id: `cancel@${orderId}` });
    if (instructed.outcome === 'infeasible')
      telemetry.log('debug', 'child not canceled', { orderId, reasons: instructed.reasons.join(' ') });
  }

  async function undo(request: Request): Promise<void> {
    const orderId = childIdOf(request.idempotencyKey.replace(/\/undo\/(\d+)$/, '/$1'));
    const child = await store.load(orderId);
    if (!child)
      return fail(request, {
        type: 'ChildUnknown',
        message: `The order ${orderId} that was called is not stored any more.`,
        permanent: true,
      });
    const { outcome } = child.state;
    if (outcome === 'completed') return scheduler.accept(orderId, [{ id: request.requestId, type: 'compensate' }], []);
    // Ended otherwise: whatever it did is undone, or a person has decided that it stays.
    if (outcome !== null) await answer(replyTo(callerOf(request), { status: 'succeeded', output: {} }, clock.now()));
  }
}

const callerOf = ({ orderId, path, requestId, attempt, epoch }: Request): CallerRef => ({ orderId, path, requestId, attempt, epoch });

/** `ship-one@1` */
function workflowOf({ operation }: Request): OrderRecord['workflow'] {
  const [name = '', version] = operation.split('@');
  return { name, version: Number(version) };
}

const childOrder = (request: Request, { client }: OrderRecord, now: number): OrderRecord => {
  const orderId = childIdOf(request.idempotencyKey);
  return {
    orderId,
    client,
    workflow: workflowOf(request),
    body: request.input,
    hash: hash('sha256', JSON.stringify(request.input)),
    caller: callerOf(request),
    submittedAt: now,
    answer: JSON.stringify({ orderId, processState: 'Processing', submittedAt: timeText(now) }),
  };
};
