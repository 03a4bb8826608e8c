import type * as z from 'zod';
import type { Json, JsonObject } from '#core/data/json';
import { definitionPath, type Program } from '#core/definition/program';
import { explain } from '#core/views/explain';
import { UnreadableRecordError } from '#ports/errors';
import type { StateRecord } from '#ports/records';
import type { ListPosition, OrderFilter, Store } from '#ports/store';
import type { Instance } from '#roles/scheduler/instance';
import { stepsOf } from '#roles/scheduler/step-report';
import { boundedPage } from './bounded.ts';
import { openCursor, sealCursor } from './cursor.ts';
import { entryView, readJournal } from './history.ts';
import { badParameter, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { OrderListQuery, PageQuery, ReadHeaders, SubmissionBody, SubmissionHeaders } from './schemas.ts';
import { fullOrder, isOperator, listedOrder, maySee } from './views.ts';

type Query<T extends z.ZodType> = Call<z.output<T>>;

export async function submitOrder({
  api,
  caller,
  headers,
  body,
}: Call<unknown, z.output<typeof SubmissionHeaders>, z.output<typeof SubmissionBody>>): Promise<Answer | Refusal> {
  if (caller.client === undefined) return refuse('forbidden');
  const waitMs = api.clientRate(caller.client);
  if (waitMs > 0) return refuse('rate-limited', { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } });
  const submitted = await api.submit({
    ...body,
    order: body.order as Json,
    client: caller.client,
    idempotencyKey: headers['idempotency-key'],
  });
  switch (submitted.outcome) {
    case 'accepted': {
      const { orderId, answer } = submitted.order;
      return {
        status: 202,
        text: answer,
        orderId,
        headers: { location: `/orders/${orderId}`, ...(submitted.replayed ? { 'idempotent-replayed': 'true' } : {}) },
      };
    }
    case 'invalid':
      return refuse('invalid', { errors: submitted.problems });
    case 'key-reused':
      return refuse('idempotency-key-reused');
  }
}

export async function showOrder(call: Call<unknown, z.output<typeof ReadHeaders>>): Promise<Answer | Refusal> {
  const { api, caller, headers } = call;
  const found = await visibleOrder(call);
  if (!found) return refuse('not-found');
  const { order, state } = found;
  const { orderId } = order;
  const etag = etagOf(state.rev);
  const caching = { etag, 'cache-control': 'private, no-cache', vary: 'authorization' };
  if (isKnown(etag, headers['if-none-match'])) return { status: 304, text: '', orderId, headers: caching };

  const program = api.definitions.programOf(state);
  const { journal, instance } = await readJournal(api.store, state);
  const steps = program ? stepsOf(program, journal, instance?.state) : [];
  const explanation = program && instance ? explanationOf(program, state, instance) : null;
  return json(200, fullOrder(order, state, { steps, program, explanation }, caller), { orderId, headers: caching });
}

/** Explains the order's state. Contains no clock time, so it is stable for one ETag. Null for quarantined orders. */
function explanationOf(program: Program, { processState, suspended }: StateRecord, instance: Instance): string | null {
  if (processState === 'Error' && instance.state.phase !== 'blocked') return null;
  if (suspended && instance.state.phase === 'initialized') return 'Suspended by an operator: the order does not start until it is resumed.';
  const isOfProgram = Object.keys(instance.state.activities).every((path) => program.nodes.has(definitionPath(path)));
  return isOfProgram ? explain(program, instance.state) : null;
}

export async function listOrders({ api, caller, query }: Call<OrderListQuery>): Promise<Answer | Refusal> {
  const { limit, cursor, submittedAfter, submittedBefore, ...filters } = query;
  const filter: OrderFilter = {
    ...filters,
    ...(submittedAfter === undefined ? {} : { submittedAfter: Date.parse(submittedAfter) }),
    ...(submittedBefore === undefined ? {} : { submittedBefore: Date.parse(submittedBefore) }),
    ...(isOperator(caller) ? {} : { client: caller.client ?? '' }),
  };
  const scope = { key: api.cursorKey, bound: ['orders', caller.subject, caller.client ?? null, isOperator(caller), filter as JsonObject] };
  const after = cursor === undefined ? undefined : openCursor(cursor, scope);
  if (cursor !== undefined && !after) return badCursor;

  const { items, next } = await api.store.list(filter, after && { submittedAt: Number(after[0]), orderId: String(after[1]) }, limit);
  return json(200, {
    items: items.map(({ order, state }) => listedOrder(order, state, caller)),
    next: next ? sealCursor(positionOf(next), scope) : null,
  });
}

export async function showHistory(call: Query<typeof PageQuery>): Promise<Answer | Refusal> {
  const { api, caller, id, query } = call;
  const scope = { key: api.cursorKey, bound: ['history', caller.subject, caller.client ?? null, isOperator(caller), id] };
  const after = query.cursor === undefined ? [0] : openCursor(query.cursor, scope);
  if (!after) return badCursor;
  const found = await visibleOrder(call);
  if (!found) return refuse('not-found');

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
    if (error.order ? maySee(caller, error.order) : isOperator(caller)) throw error;
    return undefined;
  }
}

const positionOf = ({ submittedAt, orderId }: ListPosition): readonly Json[] => [submittedAt, orderId];

/** Whether If-None-Match names the ETag: compared weakly, in a list, or as `*` (RFC 9110). */
const isKnown = (etag: string, ifNoneMatch: string | undefined): boolean =>
  ifNoneMatch?.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag) ?? false;
