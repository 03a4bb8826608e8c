import type * as z from 'zod';
import type { Json, JsonObject } from '#core/data/json';
import { UnreadableRecordError } from '#ports/errors';
import { orderList } from '#ports/list-filters';
import type { StateHead } from '#ports/records';
import type { ListPosition, OrderFilter, Store } from '#ports/store';
import type { Submitted } from '#roles/submission/submission';
import { auditedRead } from './audited.ts';
import { boundedPage } from './bounded.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { entryView, readJournal } from './history.ts';
import { refuseUnserved } from './parameters.ts';
import { badParameter, type Refusal, refuse } from './problem.ts';
import { readOrder } from './read-order.ts';
import { type Answer, type Call, json } from './route.ts';
import type { PageQuery } from './schemas/common.ts';
import type { OrderListQuery, ReadHeaders, ReadQuery, SubmissionBody, SubmissionHeaders } from './schemas/orders.ts';
import { fullOrder, isOperator, listedOrder, maySee, seesAll } from './views.ts';
import { isAtRest, preferenceApplied, preferredWait, waitForOrder } from './waiting.ts';

type Query<T extends z.ZodType> = Call<z.output<T>>;
type FoundOrder = NonNullable<Awaited<ReturnType<Store['load']>>>;

export async function submitOrder(
  call: Call<unknown, z.output<typeof SubmissionHeaders>, z.output<typeof SubmissionBody>>,
): Promise<Answer | Refusal> {
  const { api, caller, headers, body } = call;
  // Operators do not submit orders, so that no operator decides about an order of their own.
  if (caller.client === undefined || isOperator(caller)) return refuse('forbidden');
  const waitMs = api.clientRate(caller.client);
  if (waitMs > 0) return refuse('rate-limited', { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } });
  const submitted = await api.submit({
    ...body,
    order: body.order as Json,
    client: caller.client,
    idempotencyKey: headers['idempotency-key'],
  });
  switch (submitted.outcome) {
    case 'accepted':
      return acceptance(call, submitted);
    case 'invalid':
      return refuse('invalid', { errors: submitted.problems });
    case 'key-reused':
      return refuse('idempotency-key-reused');
  }
}

/**
 * Answers 202 at once, or 200 with the order if the client waits for it and it comes to rest in time. A repeated submission does not wait.
 */
async function acceptance(
  { headers, ...call }: Call<unknown, z.output<typeof SubmissionHeaders>>,
  { order: { orderId, answer }, replayed }: Extract<Submitted, { outcome: 'accepted' }>,
): Promise<Answer | Refusal> {
  const more = { location: `/orders/${orderId}`, ...(replayed ? { 'idempotent-replayed': 'true' } : {}) };
  const accepted: Answer = { status: 202, text: answer, orderId, headers: more };
  const seconds = preferredWait(headers.prefer);
  if (seconds === undefined) return accepted;
  const hasWaited = await waitForOrder(call.api, call.caller, orderId, { seconds: replayed ? 0 : seconds, isOver: isAtRest });
  const found = await visibleOrder({ ...call, headers: {}, id: orderId });
  const applied = hasWaited && !replayed ? preferenceApplied(seconds) : {};
  if (!found || !isAtRest(found.state)) return { ...accepted, headers: { ...more, ...applied } };
  const shown = await orderAnswer(call, found);
  return { ...shown, headers: { ...shown.headers, ...more, ...applied } };
}

export async function showOrder(call: Call<z.output<typeof ReadQuery>, z.output<typeof ReadHeaders>>): Promise<Answer | Refusal> {
  const { api, caller, id, query, headers } = call;
  const known = headers['if-none-match'];
  if (query.until === 'change' && known === undefined)
    return badParameter('/until', 'missing-etag', 'until=change: expected If-None-Match with the ETag that you have.');
  const first = await visibleOrder(call);
  if (!first) return refuse('not-found');

  const { wait: seconds } = query;
  const isOver = query.until === 'change' ? ({ rev }: StateHead) => !isKnown(etagOf(rev), known) : isAtRest;
  const waits = seconds !== undefined && !isOver(first.state);
  const hasWaited = waits && (await waitForOrder(api, caller, id, { seconds, isOver }));
  const found = waits ? await visibleOrder(call) : first;
  if (!found) return refuse('not-found');
  const applied = seconds !== undefined && (hasWaited || !waits) ? preferenceApplied(seconds) : {};
  const etag = etagOf(found.state.rev);
  if (isKnown(etag, known)) return { status: 304, text: '', orderId: id, headers: { ...cachingOf(etag), ...applied } };
  await auditedRead(call, id);
  const shown = await orderAnswer(call, found);
  return { ...shown, headers: { ...shown.headers, ...applied } };
}

const cachingOf = (etag: string) => ({ etag, 'cache-control': 'private, no-cache', vary: 'authorization' });

/** Answers with an order and all its steps. */
async function orderAnswer({ api, caller }: Pick<Call, 'api' | 'caller'>, { order, state }: FoundOrder): Promise<Answer> {
  const read = await readOrder(api, { order, state }, seesAll(caller));
  return json(200, fullOrder(order, state, read, caller), { orderId: order.orderId, headers: cachingOf(etagOf(state.rev)) });
}

export async function listOrders({ api, caller, query }: Call<OrderListQuery>): Promise<Answer | Refusal> {
  if (query.client !== undefined && !seesAll(caller))
    return badParameter('/client', 'for-operators', 'client: only an operator or a viewer names a client. A client lists its own orders.');
  const unserved = refuseUnserved(orderList, query);
  if (unserved) return unserved;
  const { limit, cursor, submittedAfter, submittedBefore, ...filters } = query;
  const filter: OrderFilter = {
    ...filters,
    ...(submittedAfter === undefined ? {} : { submittedAfter: Date.parse(submittedAfter) }),
    ...(submittedBefore === undefined ? {} : { submittedBefore: Date.parse(submittedBefore) }),
    ...(seesAll(caller) ? {} : { client: caller.client ?? '' }),
  };
  const scope = { key: api.cursorKey, bound: ['orders', caller.subject, caller.client ?? null, seesAll(caller), filter as JsonObject] };
  const after = cursor === undefined ? undefined : openCursor(cursor, scope);
  if (cursor !== undefined && !after) return badCursor;

  const { items, next } = await api.store.list(filter, after && { submittedAt: Number(after[0]), orderId: String(after[1]) }, limit);
  return json(200, {
    items: items.map(({ order, state }) => listedOrder(order, state, api.definitions.programOf(state), caller)),
    next: next ? sealCursor(positionOf(next), scope) : null,
  });
}

export async function showHistory(call: Query<typeof PageQuery>): Promise<Answer | Refusal> {
  const { api, caller, id, query } = call;
  const scope = { key: api.cursorKey, bound: ['history', caller.subject, caller.client ?? null, seesAll(caller), id] };
  const after = query.cursor === undefined ? [0] : openCursor(query.cursor, scope);
  if (!after) return badCursor;
  const found = await visibleOrder(call);
  if (!found) return refuse('not-found');

  await auditedRead(call, id);
  const { journal } = await readJournal(api.store, found.state);
  const rest = journal.filter(({ seq }) => seq > Number(after[0]));
  const items = boundedPage(rest.slice(0, query.limit).map((entry) => entryView(id, entry, caller)));
  const last = rest[items.length - 1];
  const next = rest.length > items.length && last ? sealCursor([last.seq], scope) : null;
  return json(200, { items, next }, { orderId: id });
}

export const badCursor = badParameter(
  '/cursor',
  'bad-cursor',
  'cursor: expected the unchanged "next" of the previous page, with the same filters and the same caller.',
);

export const etagOf = (rev: number): string => `"${rev}"`;

/** The longest id of an order. */
const idCharactersMax = 128;

/** Loads an order. An order that the caller may not see is undefined, as if it did not exist. */
export async function visibleOrder({ api, caller, id }: Call): ReturnType<Store['load']> {
  try {
    const found = id.length > idCharactersMax ? undefined : await api.store.load(id);
    return found && maySee(caller, found.order) ? found : undefined;
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    if (error.order ? maySee(caller, error.order) : seesAll(caller)) throw error;
    return undefined;
  }
}

const positionOf = ({ submittedAt, orderId }: ListPosition): readonly Json[] => [submittedAt, orderId];

/** Whether If-None-Match names the ETag: compared weakly, in a list, or as `*` (RFC 9110). */
const isKnown = (etag: string, ifNoneMatch: string | undefined): boolean =>
  ifNoneMatch?.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag) ?? false;
