import { hash } from 'node:crypto';
import { parseWorkflowRef } from '#core/definition/workflow-ref';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { NewerMessageError, StateTooLargeError } from '#ports/errors';
import { type Request, timeText } from '#ports/messages';
import type { OrderRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { validatorOf } from '#ports/util/validation';
import { calledProgram } from '#roles/definitions/called';
import type { Scheduler } from '#roles/scheduler/scheduler';
import { inherited } from '#roles/secrets/order-key';
import { bodyProblems, childIdOf } from '#roles/submission/submission';
import { type CallReplies, callerOf } from './replies.ts';

/** Settings of the system that an order keeps from its creation. */
export interface ChildOrderSettings {
  readonly stepMs: number;
  readonly maxFailures: number;
  readonly longWaitMs: number;
  readonly retentionMs: number | undefined;
}

interface StartPorts {
  readonly store: Pick<Store, 'load'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly scheduler: Pick<Scheduler, 'create'>;
  readonly definitions: Definitions;
  readonly config: ChildOrderSettings;
  readonly replies: CallReplies;
}

/** Creates the child of a call, or refuses the call. */
export async function startChild(request: Request, { store, clock, scheduler, definitions, config, replies }: StartPorts): Promise<void> {
  const definition = calledProgram(request.operation, definitions)?.definition;
  const parent = await store.load(request.orderId);
  // The request came from a newer version of the app, which has this workflow. A process of that version can serve it.
  if (!definition) throw new NewerMessageError(`The workflow ${request.operation} is not part of this app.`);
  const refuse = (message: string): Promise<void> => replies.fail(request, { type: 'RequestRefused', message, permanent: true });
  if (!parent) return refuse(`The calling order ${request.orderId} is not stored, so no order is started for its call.`);

  const problems = bodyProblems(validatorOf(definition.order), request.input, '');
  if (problems.length > 0) {
    const details = problems.map(({ pointer, detail }) => `${pointer || '/'} ${detail.replace(/\.$/, '')}`);
    return refuse(`The input of ${request.operation} is invalid: ${details.join('; ')}.`);
  }
  try {
    await scheduler.create(childOrder(request, parent.order, clock.now()), { claim: true, ...config });
  } catch (error) {
    if (!(error instanceof StateTooLargeError)) throw error;
    await replies.fail(request, { type: 'StateTooLarge', message: error.message, permanent: true });
  }
}

/**
 * Makes sure that the child can never begin, so that the caller may treat the call as not done. A delayed message or a paused host
 * could still start it. A canceled order under the child's id prevents that, and its end is the reply. `begun`: the child exists.
 */
export async function preventStart(request: Request, ports: StartPorts): Promise<'prevented' | 'begun'> {
  const { store, clock, scheduler, definitions, config, replies } = ports;
  const parent = await store.load(request.orderId);
  if (!parent || !calledProgram(request.operation, definitions)) {
    await replies.fail(request, { type: 'NotDone', message: 'No order was created for this call.', permanent: true });
    return 'prevented';
  }
  const created = await scheduler.create(childOrder(request, parent.order, clock.now()), { claim: false, preventStart: true, ...config });
  return created.outcome === 'written' ? 'prevented' : 'begun';
}

function childOrder(request: Request, { client }: OrderRecord, now: number): OrderRecord {
  const orderId = childIdOf(request.idempotencyKey);
  return {
    orderId,
    client,
    workflow: parseWorkflowRef(request.operation),
    body: request.input,
    // The secrets of the input are sealed, so the hash tells nothing about them.
    hash: hash('sha256', JSON.stringify(request.input)),
    ...(request.key === undefined ? {} : { key: inherited(request.key, request.orderId) }),
    caller: callerOf(request),
    submittedAt: now,
    answer: JSON.stringify({ orderId, processState: 'Processing', submittedAt: timeText(now) }),
  };
}
