import type * as z from 'zod';
import { workflowsAgent } from '#core/data/child-order';
import type { Json, JsonObject } from '#core/data/json';
import { collections, type Document } from '#ports/documents';
import { queueNames, timeText } from '#ports/messages';
import { jsonIn } from '#ports/util/json';
import { type DeadLetter, deadLetterIn } from '#roles/dead-letters/dead-letter';
import { openedLetter } from '#roles/dead-letters/kept-body';
import { redacted, redactedBody, unreadableText } from '#roles/dead-letters/redact';
import { orderBehind, type Treated, treat } from '#roles/dead-letters/resubmit';
import { auditedRead, preparedEntry } from './audited.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { badCursor } from './orders.ts';
import { badParameter, conflict, lockedUntil, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { BulkBody, DeadLetterFilter, DeadLetterQuery, DiscardBody, ResubmitMessageBody } from './schemas/dead-letters.ts';

type Filter = z.output<typeof DeadLetterFilter>;

/** The most messages read for one page: if few of them match the filter, the page holds fewer than `limit`. */
const lookedMax = 500;
const readAtOnce = 50;
/** The longest id of a message. */
const idCharactersMax = 512;

export async function listDeadLetters({ api, caller, name, query }: Call<z.output<typeof DeadLetterQuery>>): Promise<Answer | Refusal> {
  if (!isChannel(name, api)) return refuse('not-found');
  const { limit, cursor, ...filter } = query;
  const scope = { key: api.cursorKey, bound: ['dead-letter', caller.subject, name, filter as JsonObject] };
  const after = cursor === undefined ? [] : openCursor(cursor, scope);
  if (!after) return badCursor;
  const { items, next } = await matching(api, name, filter, after[0] as string | undefined, limit);
  return json(200, { items: items.map((message) => summaryOf(name, message)), next: next === null ? null : sealCursor([next], scope) });
}

export async function showDeadLetter(call: Call): Promise<Answer | Refusal> {
  const { api, name, id } = call;
  const found = await documentOf(api, name, id);
  if (!found) return refuse('not-found');
  await auditedRead(call, `${name}/${id}`);
  const message = await openedLetter(deadLetterIn(found), api.keys);
  const loaded = await orderBehind(message, api);
  const body = jsonIn(message.body);
  const { defaultWorkflow } = api.config;
  return json(200, {
    ...summaryOf(name, message),
    reason: redacted(message.reason, loaded),
    attempts: message.attempts.map(({ at, error }) => ({ at: timeText(at), error: redacted(error, loaded) })),
    body: body === undefined ? null : redactedBody(message.queue, body, { ...api, defaultWorkflow, loaded }),
    text: body === undefined ? unreadableText(message) : null,
  });
}

type ResubmitCall = Call<unknown, unknown, z.output<typeof ResubmitMessageBody>>;

export async function resubmitMessage(call: ResubmitCall): Promise<Answer | Refusal> {
  const { body, ...rest } = call.body;
  return answerOf(
    call,
    'resubmit',
    await treatOne(call, { action: 'resubmit', ...rest, ...(body === undefined ? {} : { body: body as Json }) }),
  );
}

export const isDeadLetter = async ({ api, name, id }: Pick<Call, 'api' | 'name' | 'id'>): Promise<boolean> =>
  (await documentOf(api, name, id)) !== undefined;

export async function discardMessage(call: Call<unknown, unknown, z.output<typeof DiscardBody>>): Promise<Answer | Refusal> {
  return answerOf(call, 'discard', await treatOne(call, { action: 'discard', ...call.body }));
}

/** Treats the matching messages one after the other: in parallel, two messages of one order would race for its record. */
export async function treatMany(call: Call<unknown, unknown, z.output<typeof BulkBody>>): Promise<Answer | Refusal> {
  const { api, caller, name } = call;
  if (!isChannel(name, api)) return refuse('not-found');
  const { filter, limit, cursor, action, reason, dryRun, again } = call.body;
  const scope = { key: api.cursorKey, bound: ['bulk', caller.subject, name, filter as JsonObject] };
  const after = cursor === undefined ? [] : openCursor(cursor, scope);
  if (!after)
    return badParameter('/cursor', 'bad-cursor', 'cursor: expected the unchanged "next" of the previous response, with the same filter.');
  const { items, next } = await chosenOrMatching(api, name, filter, after[0] as string | undefined, limit);
  const treated: object[] = [];
  for (const message of items) {
    const one = { ...call, id: message.id };
    const answer = await treatOne(one, { action, reason, dryRun, ...(again === undefined ? {} : { again }) });
    treated.push({ ...summaryOf(name, message), outcome: answer.outcome, errors: errorsOf(answer) });
  }
  return json(200, { items: treated, next: next === null ? null : sealCursor([next], scope) });
}

type OneCall = Pick<Call, 'api' | 'caller' | 'requestId' | 'name' | 'id'>;
type Wanted = Omit<Parameters<typeof treat>[2], 'by' | 'audit'>;

async function treatOne(call: OneCall, wanted: Wanted): Promise<Treated> {
  const { api, caller, requestId, name, id } = call;
  if (!isChannel(name, api) || id.length > idCharactersMax) return { outcome: 'not-found' };
  const { defaultWorkflow } = api.config;
  const { action, reason } = wanted;
  const after = action === 'resubmit' ? { edited: wanted.body !== undefined } : null;
  const about = { kind: 'dead-letter', target: `${name}/${id}`, reason } as const;
  const audit = ({ queue, type, orderId }: DeadLetter, step: 'began' | 'refused') =>
    step === 'refused'
      ? preparedEntry(call, { ...about, action: `${action}-refused`, before: null, after: null })
      : preparedEntry(call, { ...about, action, before: { queue, type: type ?? null, orderId: orderId ?? null }, after });
  const treated = await treat(name, id, { ...wanted, by: caller.subject, audit }, { ...api, defaultWorkflow });
  const { outcome } = treated;
  const orderId = 'orderId' in treated ? treated.orderId : undefined;
  const logged = { channel: name, message: id, action, outcome, by: caller.subject, requestId };
  api.telemetry.log('info', 'message treated', { ...logged, ...(orderId === undefined ? {} : { orderId }) });
  return treated;
}

function answerOf({ api, name, id }: OneCall, action: Wanted['action'], treated: Treated): Answer | Refusal {
  switch (treated.outcome) {
    case 'not-found':
      return refuse('not-found');
    case 'conflict':
      return conflict(treated.reasons);
    case 'invalid':
      return refuse('invalid', { errors: errorsOf(treated) });
    case 'locked':
      return lockedUntil(treated.heldUntil, api.clock.now());
    case 'done':
    case 'possible': {
      const { message, orderId } = treated;
      const isSent = action === 'resubmit' && treated.outcome === 'done';
      const answer = { id, channel: name, queue: message.queue, action, dryRun: treated.outcome === 'possible', orderId: orderId ?? null };
      return json(isSent ? 202 : 200, answer, orderId === undefined ? {} : { orderId });
    }
  }
}

function errorsOf(treated: Treated) {
  if (treated.outcome === 'invalid') return treated.problems;
  if (treated.outcome === 'conflict') return treated.reasons.map((detail) => ({ pointer: '', code: 'conflict', detail }));
  return treated.outcome === 'locked'
    ? [{ pointer: '', code: 'locked', detail: 'Another process or person holds the order of this message. Try again later.' }]
    : [];
}

type BulkFilter = z.output<typeof BulkBody>['filter'];

/** Returns the messages that match the filter: among those that a person has chosen, or among all. */
async function chosenOrMatching(api: Call['api'], name: string, { ids, ...filter }: BulkFilter, after: string | undefined, limit: number) {
  if (!ids) return matching(api, name, filter, after, limit);
  const left = [...new Set(ids)].toSorted().filter((id) => after === undefined || id > after);
  const firstIds = left.slice(0, limit);
  const found = await Promise.all(firstIds.map((id) => documentOf(api, name, id)));
  const items = found.flatMap((document) => (document ? [deadLetterIn(document)] : [])).filter((message) => fits(message, filter));
  return { items, next: left.length > limit ? (firstIds.at(-1) ?? null) : null };
}

/** Returns matching messages after `after`, oldest first. `next` is the position to continue from, null at the end. */
async function matching({ store }: Pick<Call['api'], 'store'>, name: string, filter: Filter, after: string | undefined, limit: number) {
  const items: DeadLetter[] = [];
  let last = after;
  for (let looked = 0; looked < lookedMax; ) {
    const page = await store.documents(collections.deadLetters(name), last, readAtOnce);
    for (const document of page) {
      if (items.length === limit) return { items, next: last ?? null };
      const message = deadLetterIn(document);
      if (fits(message, filter)) items.push(message);
      last = document.id;
    }
    if (page.length < readAtOnce) return { items, next: null };
    looked += page.length;
  }
  return { items, next: last ?? null };
}

function fits(message: DeadLetter, { id, queue, type, orderId, reason, sentAfter, sentBefore }: Filter): boolean {
  return (
    (id === undefined || message.id === id) &&
    (queue === undefined || message.queue === queue) &&
    (type === undefined || message.type === type) &&
    (orderId === undefined || message.orderId === orderId) &&
    (reason === undefined || message.reason.toLowerCase().includes(reason.toLowerCase())) &&
    (sentAfter === undefined || message.sentAt > Date.parse(sentAfter)) &&
    (sentBefore === undefined || message.sentAt < Date.parse(sentBefore))
  );
}

async function documentOf(api: Call['api'], name: string, id: string): Promise<Document | undefined> {
  return isChannel(name, api) && id.length <= idCharactersMax ? api.store.document(collections.deadLetters(name), id) : undefined;
}

/** Whether a name is a channel: an agent, a consumer, calls of other workflows, submissions or wake-ups. */
const isChannel = (name: string, { definitions }: Pick<Call['api'], 'definitions'>): boolean =>
  name === queueNames.submissions ||
  name === queueNames.wakeUps ||
  name === workflowsAgent ||
  [...definitions.agents, ...definitions.consumers].some((each) => each.name === name);

const summaryOf = (channel: string, { id, queue, messageId, type, orderId, senderId, reason, failures, ...message }: DeadLetter) => ({
  id,
  channel,
  queue,
  messageId,
  type: type ?? null,
  orderId: orderId ?? null,
  senderId: senderId ?? null,
  reason,
  failures,
  bytes: message.cut?.bytes ?? message.bytes ?? Buffer.byteLength(message.body),
  sentAt: timeText(message.sentAt),
  deadAt: timeText(message.deadAt),
  handling: message.handling ? { ...message.handling, at: timeText(message.handling.at) } : null,
});
