import type { Json, JsonObject } from '#core/data/json';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { collections, type Document } from '#ports/documents';
import { InstanceLockedError, UnreadableRecordError } from '#ports/errors';
import { queueNames, type SubmissionMessage, timeText } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { Note } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { decodeInstance } from '#roles/scheduler/instance';
import type { Loaded } from '#roles/scheduler/types';
import { messageProblems } from '#roles/submission/body-limits';
import { orderIdOf, type Submission, type SubmissionProblem, type Submit } from '#roles/submission/submission';
import { type DeadLetter, deadLetterDocument, deadLetterIn, type Handling } from './dead-letter.ts';
import { noteOnOrder } from './order-notes.ts';
import { redactedBody, withSecrets } from './redact.ts';
import { objectionsTo, renewed } from './still-awaited.ts';
import { bodyPointer, type Fitting, fit } from './validate.ts';

export interface HandlingPorts {
  readonly store: Store;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly definitions: Definitions;
  readonly defaultWorkflow: string;
  readonly submit: Submit;
}

/** What a person wants done with a message that was dead-lettered. */
export interface Treatment {
  readonly action: Handling['action'];
  readonly by: string;
  readonly reason: string;
  /** resubmit: in place of its own. Where a secret was masked and nothing is changed, it stays. */
  readonly body?: Json;
  /** resubmit: also where it was begun before, and nobody knows whether it was sent. */
  readonly again?: boolean;
  /** Says what would become of it, and changes nothing. */
  readonly dryRun?: boolean;
}

export type Treated =
  | { readonly outcome: 'done' | 'possible'; readonly message: DeadLetter; readonly orderId?: string }
  | { readonly outcome: 'not-found' }
  | { readonly outcome: 'conflict'; readonly reasons: readonly string[] }
  | { readonly outcome: 'invalid'; readonly problems: readonly SubmissionProblem[] }
  | { readonly outcome: 'locked'; readonly heldUntil: number };

/** What was begun is left to whoever began it for so long: no call of the API takes longer. */
export const handlingMs = 30_000;

/** What goes out for a message: to its queue, or to where orders are submitted. */
type Dispatch =
  | { readonly to: 'queue'; readonly queue: string; readonly text: string; readonly orderId?: string }
  | { readonly to: 'submission'; readonly submission: Submission; readonly orderId: string };

type Checked = Extract<Treated, { outcome: 'conflict' | 'invalid' }> | { readonly outcome: 'fits'; readonly dispatch: Dispatch };

/**
 * Resubmits or discards a message of a channel. Written first: who does what, then its line in the order's history; then it is
 * sent, then removed. Where that breaks off, the message is still there and says so, and it can be done again.
 */
export async function treat(channelName: string, id: string, treatment: Treatment, ports: HandlingPorts): Promise<Treated> {
  const { store, clock } = ports;
  const found = await store.document(collections.deadLetters(channelName), id);
  if (!found) return { outcome: 'not-found' };
  const message = deadLetterIn(found);
  const busy = busyReason(message.handling, treatment, clock.now());
  if (busy !== undefined) return { outcome: 'conflict', reasons: [busy] };
  const checked = treatment.action === 'resubmit' ? await check(message, treatment.body, ports) : undefined;
  if (checked && checked.outcome !== 'fits') return checked;
  const orderId = checked?.dispatch.orderId ?? orderOf(message);
  if (treatment.dryRun) return { outcome: 'possible', message, ...(orderId === undefined ? {} : { orderId }) };

  const marked = await mark(found, message, treatment, ports);
  if ('outcome' in marked) return marked;
  const refused = await carryOut(message, treatment, checked?.dispatch, ports);
  if (refused) await unmark(marked, message, ports);
  if (refused) return refused;
  await ports.store.removeDocument(marked.collection, marked.id, marked.rev);
  ports.telemetry.count(treatment.action === 'resubmit' ? 'messageResubmitted' : 'messageDiscarded');
  return { outcome: 'done', message, ...(orderId === undefined ? {} : { orderId }) };
}

/** Of a submission it is not said: whoever posts one could name anybody's order. */
const orderOf = ({ queue, orderId }: DeadLetter): string | undefined => (queue === queueNames.submissions ? undefined : orderId);

/** Why another one must have his time with it, or why this one must know that it may be sent twice. */
function busyReason(handling: Handling | undefined, { action, again }: Treatment, now: number): string | undefined {
  if (!handling) return undefined;
  const { by, at } = handling;
  const began = `${by} began to ${handling.action} it at ${timeText(at)}`;
  if (now < at + handlingMs) return `${began}. Look again in half a minute.`;
  if (action === 'discard' || handling.action === 'discard' || again) return undefined;
  return `${began}, and it is not known whether it was sent. Send it with again: true, perhaps for the second time, or discard it.`;
}

async function mark(
  found: Document,
  message: DeadLetter,
  { action, by, reason }: Treatment,
  { store, clock }: HandlingPorts,
): Promise<Document | Extract<Treated, { outcome: 'conflict' | 'not-found' }>> {
  const handling: Handling = { action, by, at: clock.now(), reason };
  const marked = { ...found, rev: found.rev + 1, content: deadLetterDocument({ ...message, handling }).content };
  const write = await store.putDocument(marked, found.rev);
  if (write.outcome === 'written') return marked;
  return write.current ? { outcome: 'conflict', reasons: ['Somebody else is at it. Look again.'] } : { outcome: 'not-found' };
}

/** Nothing was sent: it is as it was. Where that is not written any more, it stays marked, and can be treated all the same. */
async function unmark(marked: Document, message: DeadLetter, { store }: HandlingPorts): Promise<void> {
  const { handling: _, ...rest } = message;
  await store.putDocument({ ...marked, rev: marked.rev + 1, content: deadLetterDocument(rest).content }, marked.rev);
}

type Refused = Exclude<Treated, { outcome: 'done' | 'possible' | 'not-found' }>;

/** Undefined once it is done; else nothing was sent. */
async function carryOut(
  message: DeadLetter,
  treatment: Treatment,
  dispatch: Dispatch | undefined,
  ports: HandlingPorts,
): Promise<Refused | undefined> {
  if (dispatch?.to === 'submission') {
    const refused = await submitted(dispatch.submission, ports);
    return refused ?? noted(dispatch.orderId, message, treatment, ports);
  }
  const refused = await noted(dispatch?.orderId ?? orderOf(message), message, treatment, ports);
  if (refused) return refused;
  if (dispatch) await ports.queues.send([{ queue: dispatch.queue, body: dispatch.text }]);
  return undefined;
}

async function noted(
  orderId: string | undefined,
  { id }: DeadLetter,
  { action, by, reason, body }: Treatment,
  ports: HandlingPorts,
): Promise<Refused | undefined> {
  if (orderId === undefined) return undefined;
  const about = { at: ports.clock.now(), message: id, by, reason };
  const note: Note =
    action === 'discard'
      ? { ...about, type: 'MessageDiscarded' }
      : { ...about, type: 'MessageResubmitted', ...(body === undefined ? {} : { edited: true }) };
  try {
    const outcome = await noteOnOrder(orderId, note, ports);
    return outcome === 'lost'
      ? { outcome: 'conflict', reasons: ['The order changes faster than it can be written down. Try again.'] }
      : undefined;
  } catch (error) {
    if (error instanceof InstanceLockedError) return { outcome: 'locked', heldUntil: error.heldUntil };
    throw error;
  }
}

async function submitted(submission: Submission, { submit }: HandlingPorts): Promise<Refused | undefined> {
  const answer = await submit(submission);
  if (answer.outcome === 'accepted') return undefined;
  if (answer.outcome === 'invalid')
    return { outcome: 'invalid', problems: answer.problems.map((each) => ({ ...each, pointer: bodyPointer + each.pointer })) };
  const detail = 'The key was used for another submission.';
  return { outcome: 'invalid', problems: [{ pointer: `${bodyPointer}/idempotencyKey`, code: 'idempotency-key-reused', detail }] };
}

/** Everything that speaks against sending it, with the body that it has or is given. */
async function check(message: DeadLetter, edited: Json | undefined, ports: HandlingPorts): Promise<Checked> {
  const original = jsonIn(message.body);
  const loaded = await orderBehind(message, ports);
  const restored =
    edited === undefined || original === undefined
      ? undefined
      : withSecrets(edited, redactedBody(message.queue, original, { ...ports, loaded }), original);
  if (restored && restored.problems.length > 0) return { outcome: 'invalid', problems: restored.problems };
  const body = restored ? restored.value : (edited ?? original);
  if (body === undefined) return { outcome: 'invalid', problems: [noJson] };
  const { problems, message: fitting } = fit(message.queue, body, ports);
  if (!fitting) return { outcome: 'invalid', problems };
  const text = edited === undefined ? message.body : JSON.stringify(body);
  if (fitting.type !== 'submission') return checkAwaited(message, fitting, { body, text }, ports);
  const ofForm = messageProblems(text).map((each) => ({ ...each, pointer: bodyPointer + each.pointer }));
  return ofForm.length > 0 ? { outcome: 'invalid', problems: ofForm } : checkSender(message, fitting, ports);
}

const noJson: SubmissionProblem = { pointer: bodyPointer, code: 'malformed-json', detail: 'It is no JSON text. Give it as it should be.' };

/** A person may correct what a client has sent, but not speak in the name of one who has not sent it. */
async function checkSender(
  { senderId }: DeadLetter,
  { v: _, type: __, ...given }: SubmissionMessage,
  { store }: HandlingPorts,
): Promise<Checked> {
  const { client, idempotencyKey } = given;
  if (senderId === undefined) return { outcome: 'conflict', reasons: ['Who sent it was not kept: have the client send it again.'] };
  const registered = await store.client(client);
  if (!registered?.senders.includes(senderId))
    return { outcome: 'conflict', reasons: [`Its sender ${senderId} is not registered for the client ${client}.`] };
  // Undefined fields were left out by whoever sent it.
  const submission = JSON.parse(JSON.stringify(given)) as Submission;
  return { outcome: 'fits', dispatch: { to: 'submission', submission, orderId: orderIdOf(client, idempotencyKey) } };
}

async function checkAwaited(
  { queue }: DeadLetter,
  fitting: Exclude<Fitting, SubmissionMessage>,
  { body, text }: { readonly body: Json; readonly text: string },
  ports: HandlingPorts,
): Promise<Checked> {
  const { orderId } = fitting;
  const now = ports.clock.now();
  const { problems, reasons } = objectionsTo(queue, fitting, await loadedOrder(orderId, ports), { now, definitions: ports.definitions });
  if (reasons.length > 0) return { outcome: 'conflict', reasons };
  if (problems.length > 0) return { outcome: 'invalid', problems };
  const sent = fitting.type === 'request' ? JSON.stringify(renewed(body as JsonObject, fitting, now)) : text;
  return { outcome: 'fits', dispatch: { to: 'queue', queue, text: sent, orderId } };
}

/** The order that a message is about; undefined where none is named, or it cannot be read. */
export const orderBehind = async (
  message: DeadLetter,
  ports: Pick<HandlingPorts, 'store' | 'definitions'>,
): Promise<Loaded | undefined> => {
  const orderId = orderOf(message) ?? /"(ord_[a-z2-7]{52})[/"]/.exec(message.body)?.[1];
  return orderId === undefined ? undefined : loadedOrder(orderId, ports);
};

async function loadedOrder(
  orderId: string,
  { store, definitions }: Pick<HandlingPorts, 'store' | 'definitions'>,
): Promise<Loaded | undefined> {
  try {
    const found = await store.load(orderId);
    const program = found && definitions.programOf(found.state);
    return program && { program, order: found.order, record: found.state, instance: decodeInstance(found.state) };
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}

/** What a text says as JSON; undefined where it is none. */
export const jsonIn = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};
