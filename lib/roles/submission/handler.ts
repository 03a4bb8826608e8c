import { hash } from 'node:crypto';
import type { JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { NewerMessageError, StateTooLargeError, UnreadableMessageError, UnreadableRecordError } from '#ports/errors';
import { queueNames, timeText } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { OrderRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { validatorOf } from '#ports/util/validation';
import { exceptionIdOf } from '#roles/exceptions/ids';
import { exceptionOf } from '#roles/exceptions/read';
import { handledMessage, handledReplyOf } from '#roles/scheduler/handlers';
import { decodeInstance } from '#roles/scheduler/instance';
import { entriesAsSent } from '#roles/scheduler/outbox';
import { outputsIn } from '#roles/scheduler/rule-values';
import type { RunningHandler } from '#roles/scheduler/running-handler';
import type { Scheduler } from '#roles/scheduler/scheduler';
import { wholeJournal } from '#roles/scheduler/step-report';
import { inherited } from '#roles/secrets/order-key';
import { bodyProblems } from './submission.ts';

export interface HandlerPorts {
  readonly store: Store;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly scheduler: Pick<Scheduler, 'create'>;
  readonly definitions: Definitions;
  readonly config: { readonly stepMs: number; readonly maxFailures: number; readonly longWaitMs: number };
}

/** Stands for the client in orders that handle exceptions. They belong to no registered client, so only operators list and see them. */
export const handlersClient = '$handlers';

interface Handled {
  readonly handler: RunningHandler;
  readonly order: OrderRecord;
}

/**
 * Begins the order that handles an exception of another order. A repetition begins no second handler, because the id follows from the
 * exception; a handler that has ended sends its answer again. If it cannot begin, the other order learns that its handler did not complete.
 *
 * @throws UnreadableMessageError if the record of the other order is damaged. The dead letter keeps the message until a person has rebuilt
 * that order.
 */
export async function beginHandlerOrder(orderId: string, seq: number, ports: HandlerPorts): Promise<void> {
  try {
    await beginFor(orderId, seq, ports);
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    if ((error.newerUntil ?? 0) > ports.clock.now()) throw new NewerMessageError(error.message);
    throw new UnreadableMessageError(`${error.message} Rebuild that order (npx redress order rebuild), then resubmit this message.`);
  }
}

async function beginFor(orderId: string, seq: number, ports: HandlerPorts): Promise<void> {
  const { store, scheduler, config } = ports;
  const parent = await store.load(orderId);
  const instance = parent && decodeInstance(parent.state);
  const handler = instance?.rules?.handlers?.find((each) => each.seq === seq);
  if (!parent || !instance || !handler) return;
  const exception = await exceptionOf(exceptionIdOf(orderId, seq), store);
  if (!exception) throw new Error(`The exception ${seq} of the order ${orderId} is not stored yet. The message is delivered again.`);
  const { seq: _, submittedAt: __, groupBy: ___, ...shown } = exception;
  const outputs = outputsIn(wholeJournal(await store.pages(orderId), instance.tail));
  const body = {
    exception: { ...shown, at: timeText(exception.at), handling: null },
    orderId,
    order: parent.order.body,
    outputs,
  } as unknown as JsonObject;
  const refused = refusedStart({ handler, order: parent.order }, body, ports);
  if (refused !== undefined) return reportNotBegun({ handler, order: parent.order }, refused, ports);
  try {
    const begun = handlerOrder({ handler, order: parent.order }, body, ports);
    const created = await scheduler.create(begun, { claim: true, ...config });
    if (created.outcome === 'exists') await reportAgain(created.order, ports);
  } catch (error) {
    if (!(error instanceof StateTooLargeError)) throw error;
    await reportNotBegun({ handler, order: parent.order }, error.message, ports);
  }
}

/** Sends the answer of a handler that has ended, because the first one may be lost. */
async function reportAgain(handler: OrderRecord, { store, queues, clock }: HandlerPorts): Promise<void> {
  const state = await store.head(handler.orderId);
  const replies = state ? handledReplyOf(state, handler, clock.now()) : [];
  if (replies.length > 0) await queues.send(entriesAsSent(replies).messages);
}

const versionOf = ({ handler: { workflow } }: Handled, { definitions }: HandlerPorts): number | undefined =>
  workflow.version ?? definitions.newest(workflow.name)?.definition.version;

function refusedStart(handled: Handled, body: JsonObject, ports: HandlerPorts): string | undefined {
  const { name } = handled.handler.workflow;
  const version = versionOf(handled, ports);
  const program = version === undefined ? undefined : ports.definitions.program(name, version);
  if (!program) return `The app has no workflow ${name}${version === undefined ? '' : `@${version}`}.`;
  const problems = bodyProblems(validatorOf(program.definition.order), body, '');
  const details = problems.map(({ pointer, detail }) => `${pointer || '/'} ${detail.replace(/\.$/, '')}`);
  return problems.length === 0 ? undefined : `The workflow ${name} does not take the exception: ${details.join('; ')}.`;
}

const reportNotBegun = ({ handler, order }: Handled, message: string, { queues, clock }: HandlerPorts): Promise<void> => {
  const ended = { handler: handler.orderId, isCompleted: false, message };
  const about = { orderId: order.orderId, seq: handler.seq };
  return queues.send([{ queue: queueNames.wakeUps, body: JSON.stringify(handledMessage(about, ended, clock.now())) }]);
};

function handlerOrder(handled: Handled, body: JsonObject, ports: HandlerPorts): OrderRecord {
  const { handler, order } = handled;
  const now = ports.clock.now();
  return {
    orderId: handler.orderId,
    client: handlersClient,
    workflow: { name: handler.workflow.name, version: versionOf(handled, ports) ?? 1 },
    body,
    // The secrets of the body are sealed, so the hash tells nothing about them.
    hash: hash('sha256', JSON.stringify(body)),
    // The handler holds secrets that were sealed for the order.
    ...(order.key === undefined ? {} : { key: inherited(order.key, order.orderId) }),
    handles: { orderId: order.orderId, seq: handler.seq },
    submittedAt: now,
    answer: JSON.stringify({ orderId: handler.orderId, processState: 'Processing', submittedAt: timeText(now) }),
  };
}
