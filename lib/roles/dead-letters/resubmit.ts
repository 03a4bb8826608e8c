import type { Json, JsonObject } from '#core/data/json';
import type { PreparedEntry } from '#ports/audit';
import { isSenderOf } from '#ports/clients';
import type { Clock } from '#ports/clock';
import type { Definitions } from '#ports/definitions';
import { collections, type Document } from '#ports/documents';
import { InstanceLockedError } from '#ports/errors';
import type { Keys } from '#ports/keys';
import { consumerOf, isOpenToSenders, type SubmissionMessage, timeText } from '#ports/messages';
import type { Queues } from '#ports/queues';
import type { Note } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { jsonIn } from '#ports/util/json';
import { readableOrder } from '#roles/scheduler/load';
import type { Loaded } from '#roles/scheduler/types';
import { messageProblems } from '#roles/submission/body-limits';
import { orderIdOf, type Submission, type SubmissionProblem, type Submit } from '#roles/submission/submission';
import { type DeadLetter, deadLetterDocument, deadLetterIn, type Handling } from './dead-letter.ts';
import { openedLetter } from './kept-body.ts';
import { noteOnOrder } from './order-notes.ts';
import { redactedBody, withSecrets } from './redact.ts';
import { objectionsTo, renewed } from './still-awaited.ts';
import { bodyPointer, type Fitting, fit, problemsForConsumer } from './validate.ts';

export interface HandlingPorts {
  readonly store: Store;
  readonly queues: Pick<Queues, 'send'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly definitions: Definitions;
  readonly defaultWorkflow: string;
  readonly submit: Submit;
  /** The keys that decrypt the bodies of dead letters. */
  readonly keys?: Keys | undefined;
}

/** An operator's action on a dead letter, with its options. */
export interface Treatment {
  readonly action: Handling['action'];
  readonly by: string;
  readonly reason: string;
  /** A new body, for `resubmit`. Fields that still show a mask keep their secrets. */
  readonly body?: Json;
  /** Whether `resubmit` sends even if an earlier resubmission was interrupted and may have sent the message. */
  readonly again?: boolean;
  /** Reports the result without changing anything. */
  readonly dryRun?: boolean;
  /**
   * Returns the entry of the audit for the transaction that records the action on the dead letter, and for the transaction that removes the
   * recorded action after a refusal.
   */
  readonly audit?: (message: DeadLetter, step: 'began' | 'refused') => PreparedEntry;
}

export type Treated =
  | { readonly outcome: 'done' | 'possible'; readonly message: DeadLetter; readonly orderId?: string }
  | { readonly outcome: 'not-found' }
  | { readonly outcome: 'conflict'; readonly reasons: readonly string[] }
  | { readonly outcome: 'invalid'; readonly problems: readonly SubmissionProblem[] }
  | { readonly outcome: 'locked'; readonly heldUntil: number };

/** Time that an operator's action has to finish before another may begin. No call of the API takes longer. */
export const handlingMs = 30_000;

/** Destination of a resubmission: the original queue, or the submission of orders. */
type Dispatch =
  | { readonly to: 'queue'; readonly queue: string; readonly text: string; readonly orderId?: string }
  | { readonly to: 'submission'; readonly submission: Submission; readonly orderId: string };

type Checked = Extract<Treated, { outcome: 'conflict' | 'invalid' }> | { readonly outcome: 'fits'; readonly dispatch: Dispatch };

/**
 * Resubmits or discards a dead letter. It records the action on the dead letter, carries it out, and then removes the dead letter. After a
 * crash the dead letter is still there with its recorded action, and the operator can repeat the action.
 */
export async function treat(channelName: string, id: string, treatment: Treatment, ports: HandlingPorts): Promise<Treated> {
  const { store, clock } = ports;
  const found = await store.document(collections.deadLetters(channelName), id);
  if (!found) return { outcome: 'not-found' };
  const stored = deadLetterIn(found);
  const message = await openedLetter(stored, ports.keys);
  const busy = busyReason(message.handling, treatment, clock.now());
  if (busy !== undefined) return { outcome: 'conflict', reasons: [busy] };
  const checked = treatment.action === 'resubmit' ? await check(message, treatment.body, ports) : undefined;
  if (checked && checked.outcome !== 'fits') return checked;
  const orderId = checked?.dispatch.orderId ?? orderOf(message);
  if (treatment.dryRun) return { outcome: 'possible', message, ...(orderId === undefined ? {} : { orderId }) };

  const marked = await mark(found, stored, treatment, ports);
  if ('outcome' in marked) return marked;
  const refused = await carryOut(message, treatment, checked?.dispatch, ports);
  if (refused) await unmark(marked, stored, treatment, ports);
  if (refused) return refused;
  await ports.store.removeDocument(marked.collection, marked.id, marked.rev);
  ports.telemetry.count(treatment.action === 'resubmit' ? 'messageResubmitted' : 'messageDiscarded');
  return { outcome: 'done', message, ...(orderId === undefined ? {} : { orderId }) };
}

/** Returns the order of a dead letter. A message from outside has none, because its sender could name any order. */
const orderOf = ({ queue, orderId }: DeadLetter): string | undefined => (isOpenToSenders(queue) ? undefined : orderId);

/** Returns why an earlier action on the dead letter prevents this one; undefined if none does. */
function busyReason(handling: Handling | undefined, { action, again }: Treatment, now: number): string | undefined {
  if (!handling) return undefined;
  const { by, at } = handling;
  const began = `${by} began to ${handling.action} this message at ${timeText(at)}`;
  if (now < at + handlingMs) return `${began}. Try again in half a minute.`;
  if (action === 'discard' || handling.action === 'discard' || again) return undefined;
  return `${began}, and the message may have been sent. Resubmit it with again: true, or discard it.`;
}

async function mark(
  found: Document,
  message: DeadLetter,
  { action, by, reason, audit }: Treatment,
  { store, clock }: HandlingPorts,
): Promise<Document | Extract<Treated, { outcome: 'conflict' | 'not-found' }>> {
  const handling: Handling = { action, by, at: clock.now(), reason };
  const marked = { ...found, rev: found.rev + 1, content: deadLetterDocument({ ...message, handling }).content };
  const entry = audit?.(message, 'began');
  const write = await store.putDocument(marked, found.rev, entry?.documents);
  if (write.outcome === 'written') await entry?.stored();
  if (write.outcome === 'written') return marked;
  return write.current
    ? { outcome: 'conflict', reasons: ['Another operator acts on this message. Look at the message again, then retry.'] }
    : { outcome: 'not-found' };
}

/**
 * Removes the recorded action after a refusal, so that the operator can act again at once. If this write fails, the operator can act again
 * after half a minute.
 */
async function unmark(marked: Document, message: DeadLetter, { audit }: Treatment, { store }: HandlingPorts): Promise<void> {
  const { handling: _, ...rest } = message;
  const unmarked = { ...marked, rev: marked.rev + 1, content: deadLetterDocument(rest).content };
  const entry = audit?.(message, 'refused');
  const write = await store.putDocument(unmarked, marked.rev, entry?.documents);
  if (write.outcome === 'written') await entry?.stored();
}

type Refused = Exclude<Treated, { outcome: 'done' | 'possible' | 'not-found' }>;

/**
 * Carries out an action: notes it in the history of the order, then sends the message. A submission is sent first, because it may create
 * the order. Resolves to undefined after success, else to the reason of the refusal. A submission may have been accepted before its note
 * was refused; its idempotency key makes a repetition harmless.
 */
async function carryOut(
  message: DeadLetter,
  treatment: Treatment,
  dispatch: Dispatch | undefined,
  ports: HandlingPorts,
): Promise<Refused | undefined> {
  if (dispatch?.to === 'submission') {
    const refused = await submitAgain(dispatch.submission, ports);
    return refused ?? addNote(dispatch.orderId, message, treatment, ports);
  }
  const refused = await addNote(dispatch?.orderId ?? orderOf(message), message, treatment, ports);
  if (refused) return refused;
  if (dispatch) await ports.queues.send([{ queue: dispatch.queue, body: dispatch.text }]);
  return undefined;
}

async function addNote(
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
      ? { outcome: 'conflict', reasons: ['The order changes too fast to record this action in its history. Try again.'] }
      : undefined;
  } catch (error) {
    if (error instanceof InstanceLockedError) return { outcome: 'locked', heldUntil: error.heldUntil };
    throw error;
  }
}

async function submitAgain(submission: Submission, { submit }: HandlingPorts): Promise<Refused | undefined> {
  const answer = await submit(submission);
  if (answer.outcome === 'accepted') return undefined;
  if (answer.outcome === 'invalid')
    return { outcome: 'invalid', problems: answer.problems.map((each) => ({ ...each, pointer: bodyPointer + each.pointer })) };
  const detail = 'Expected an unused idempotency key; this one belongs to another submission.';
  return { outcome: 'invalid', problems: [{ pointer: `${bodyPointer}/idempotencyKey`, code: 'idempotency-key-reused', detail }] };
}

/** Checks whether a message may be sent, with its stored body or the edited one. */
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
  const text = edited === undefined ? message.body : JSON.stringify(body);
  if (consumerOf(message.queue) !== undefined) {
    const problems = problemsForConsumer(message.queue, body, ports);
    return problems.length > 0
      ? { outcome: 'invalid', problems }
      : { outcome: 'fits', dispatch: { to: 'queue', queue: message.queue, text } };
  }
  const { problems, message: fitting } = fit(message.queue, body, ports);
  if (!fitting) return { outcome: 'invalid', problems };
  if (fitting.type !== 'submission') return checkAwaited(message, fitting, { body, text }, ports);
  const ofForm = messageProblems(text).map((each) => ({ ...each, pointer: bodyPointer + each.pointer }));
  return ofForm.length > 0 ? { outcome: 'invalid', problems: ofForm } : checkSender(message, fitting, ports);
}

const noJson: SubmissionProblem = {
  pointer: bodyPointer,
  code: 'malformed-json',
  detail: 'Expected JSON, got another text. Give the corrected body.',
};

/** Checks the sender of a submission. An operator may correct a client's submission, but not submit for another client. */
async function checkSender(
  { senderId }: DeadLetter,
  { v: _, type: __, ...given }: SubmissionMessage,
  { store }: HandlingPorts,
): Promise<Checked> {
  const { client, idempotencyKey } = given;
  if (senderId === undefined)
    return { outcome: 'conflict', reasons: ['The sender of this message was not kept. Ask the client to send it again.'] };
  const registered = await store.client(client);
  if (!registered || !isSenderOf(registered, senderId))
    return {
      outcome: 'conflict',
      reasons: [
        `The sender ${senderId} is not registered for the client ${client}. If the client confirms the sender, register it and try again.`,
      ],
    };
  // JSON drops the fields that the sender left out and the parser set to undefined.
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
  const loaded = await readableOrder(orderId, ports);
  const { problems, reasons } = objectionsTo(queue, fitting, loaded, { now, definitions: ports.definitions });
  if (reasons.length > 0) return { outcome: 'conflict', reasons };
  if (problems.length > 0) return { outcome: 'invalid', problems };
  const key = loaded?.order.key === undefined ? {} : { key: loaded.order.key };
  const sent = fitting.type === 'request' ? JSON.stringify({ ...renewed(body as JsonObject, fitting, now), ...key }) : text;
  return { outcome: 'fits', dispatch: { to: 'queue', queue, text: sent, orderId } };
}

/** Returns the order of a message; undefined if the message names none, or the order cannot be read. */
export const orderBehind = async (
  message: DeadLetter,
  ports: Pick<HandlingPorts, 'store' | 'definitions'>,
): Promise<Loaded | undefined> => {
  const orderId = orderOf(message) ?? /"(ord_[a-z2-7]{52})[/"]/.exec(message.body)?.[1];
  return orderId === undefined ? undefined : readableOrder(orderId, ports);
};
