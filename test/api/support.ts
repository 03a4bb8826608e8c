import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { type App, defineAgent, defineApp, defineWorkflow, fault, operation, parallel, secret, sequence } from 'redress';
import * as z from 'zod';
import { openDatabase } from '#adapters/sqlite/database';
import { sqlitePublisher } from '#adapters/sqlite/event-bus';
import { sqliteQueues } from '#adapters/sqlite/queues';
import { sqliteStore } from '#adapters/sqlite/store';
import { type ApiOptions, createApi } from '#api/app';
import type { Role } from '#api/authentication';
import { openLocalIssuer } from '#api/local-issuer';
import { refusalCodes } from '#api/openapi';
import { type ProblemCode, problems } from '#api/problem';
import { routes } from '#api/routes';
import { Problem } from '#api/schemas/problem';
import type { StepReply } from '#core/data/event';
import { manualClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { type DeadLetter, deadLetterDocument, deadLetterId } from '#roles/dead-letters/dead-letter';
import { loadDefinitions } from '#roles/definitions/load';
import { createOverviewKeeper } from '#roles/overview/keeper';
import { createScheduler } from '#roles/scheduler/scheduler';
import { createSubmission } from '#roles/submission/submission';

const Declined = fault('CardDeclined');
const Reservation = z.object({ reservationId: z.string() });
const stock = defineAgent('stock', {
  reserve: operation({ input: z.object({ sku: z.string() }), output: Reservation, run: () => ({ reservationId: 'r-1' }) }),
});
const payment = defineAgent('payment', {
  charge: operation({
    input: z.object({ reservationId: z.string(), card: z.string() }),
    output: z.object({ chargeId: z.string(), token: secret(z.string()) }),
    faults: [Declined],
    run: () => ({ chargeId: 'c-1', token: 't' }),
  }),
});
const shipping = defineAgent('shipping', {
  ship: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
  tell: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
});
const Order = z.object({ sku: z.string(), quantity: z.int().min(1).max(999), card: secret(z.string()), note: z.unknown().optional() });
const fulfil = defineWorkflow(
  'fulfil-order',
  { version: 3, order: Order, toOperator: [Declined], completeWithinSeconds: 3600 },
  ({ order }) => {
    const reserve = stock.reserve({ sku: order.sku });
    return sequence(
      reserve,
      payment.charge({ reservationId: reserve.output.reservationId, card: order.card }),
      parallel(shipping.ship({}), shipping.tell({})),
    );
  },
);
const shop = defineApp({ workflows: [fulfil], agents: [stock, payment, shipping] });

export const card = 'tok_canary_4711';
export const goodOrder = { sku: 'tea', quantity: 2, card };
export const goodSubmission = { order: goodOrder };

const folder = mkdtempSync(join(tmpdir(), 'redress-api-'));
after(() => rmSync(folder, { recursive: true, force: true }));
export const issuer = openLocalIssuer(folder, manualClock());

export const tokens = {
  acme: await issuer.sign({ role: 'client', client: 'acme' }),
  other: await issuer.sign({ role: 'client', client: 'other' }),
  clientless: await issuer.sign({ role: 'client' }),
  viewer: await issuer.sign({ role: 'viewer', subject: 'vera' }),
  operator: await issuer.sign({ role: 'operator', subject: 'olga' }),
  admin: await issuer.sign({ role: 'admin', subject: 'ada' }),
  visitor: await issuer.sign({ role: 'visitor' as Role }),
};
export type Who = keyof typeof tokens;

export interface CallOptions {
  readonly as?: Who;
  readonly token?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: unknown;
  readonly text?: string | Uint8Array<ArrayBuffer>;
}
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

/** A message for the dead letters. */
export interface GivenMessage extends Partial<Pick<DeadLetter, 'senderId' | 'reason'>> {
  readonly queue: string;
  readonly body: string | object;
}

/** The embedded system in memory behind its API. Every answer is checked against the rules for all answers. */
export function startApi({
  app = shop,
  claimOnSubmit = true,
  ...change
}: Partial<ApiOptions> & { app?: App; claimOnSubmit?: boolean } = {}) {
  const clock = manualClock();
  const lines: string[] = [];
  const telemetry = createTelemetry({ level: 'debug', write: (line) => void lines.push(line) });
  const database = openDatabase(':memory:');
  const queues = sqliteQueues(database, clock);
  const publisher = sqlitePublisher(database, clock);
  const store = sqliteStore(database, ({ messages, announcements }) => {
    publisher.publishWithin(announcements);
    return queues.sendWithin(messages);
  });
  const definitions = loadDefinitions(app);
  const scheduler = createScheduler({ store, queues, publisher, clock, telemetry, definitions, hostId: 'host-canary' });
  const submit = createSubmission({
    store,
    scheduler,
    definitions,
    clock,
    defaultWorkflow: 'fulfil-order',
    claimOnSubmit,
    stepMs: 10_000,
    maxFailures: 3,
  });
  const api = createApi({
    store,
    scheduler,
    queues,
    submit,
    definitions,
    config: { defaultWorkflow: 'fulfil-order' },
    clock,
    telemetry,
    issuer,
    cursorKey: issuer.cursorKey,
    ...change,
  });

  async function ask(
    method: string,
    path: string,
    { as, token = as && tokens[as], headers = {}, body, text }: CallOptions = {},
  ): Promise<Answered> {
    const given = text ?? (body === undefined ? null : JSON.stringify(body));
    const sent = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(given === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    const response = await api.request(path, {
      method,
      headers: sent,
      body: given,
      ...(given === null ? {} : { duplex: 'half' }),
    } as RequestInit);
    const answered = { status: response.status, headers: response.headers, text: await response.text() };
    checkLaws(answered);
    checkPublished(method, path, answered);
    return {
      ...answered,
      json: answered.headers.get('content-type')?.includes('json') && answered.text ? JSON.parse(answered.text) : undefined,
    };
  }

  const submitOrder = async (key: string, { as = 'acme', body = goodSubmission }: { as?: Who; body?: unknown } = {}): Promise<string> => {
    const { status, json } = await ask('POST', '/orders', { as, headers: { 'idempotency-key': key }, body });
    assert.equal(status, 202);
    return json.orderId as string;
  };

  /** Answers the last request to an agent. */
  const answer = async (agent: string, reply: StepReply): Promise<void> => {
    const [message] = await queues.receive(`${agent}-requests`, { max: 1, visibilityMs: 3_600_000, waitMs: 0 });
    assert.ok(message, `${agent} was asked nothing`);
    const { orderId, requestId } = JSON.parse(message.body) as { orderId: string; requestId: string };
    await scheduler.accept(orderId, [{ id: requestId, type: 'reply', requestId, agent, sentAt: clock.now(), reply }], []);
  };

  /** Writes the overview as the supervisor does. */
  const keeper = createOverviewKeeper({
    store,
    queues,
    clock,
    telemetry,
    channels: [{ name: 'payment', queues: ['payment-requests', 'payment-replies'], isAgent: true }],
    everyMs: 0,
  });

  /** An order in Error: its stock is reserved, and its card declined. */
  const orderInError = async (key: string): Promise<string> => {
    const orderId = await submitOrder(key);
    await answer('stock', { status: 'succeeded', output: { reservationId: 'r-1' } });
    await answer('payment', {
      status: 'failed',
      fault: { type: 'CardDeclined', class: 'unexpected', permanent: true, message: `declined: ${card}` },
    });
    return orderId;
  };

  let messages = 0;
  /** Keeps a message as the dead-letter function does, and returns its id. */
  async function deadLetter({ queue, body, reason = 'It is no message for an agent.', ...more }: GivenMessage): Promise<string> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const { orderId, type } = typeof body === 'string' ? {} : (body as { orderId?: string; type?: string });
    const about = { queue, messageId: `m-${++messages}`, sentAt: clock.now() + messages };
    const id = deadLetterId(about);
    const story = { reason, attempts: [{ at: clock.now(), error: reason }], failures: 4, deadAt: clock.now() };
    const message = { ...about, ...story, id, body: text, ...(orderId ? { orderId } : {}), ...(type ? { type } : {}), ...more };
    assert.equal((await store.putDocument(deadLetterDocument(message), 0)).outcome, 'written');
    return id;
  }

  /** Returns everything that is stored, for a comparison. */
  const stored = async (): Promise<string> =>
    JSON.stringify([await store.list({}, undefined, 1000), await store.clients(), publisher.published(0, 1000).length]);

  return {
    ask,
    submitOrder,
    answer,
    orderInError,
    deadLetter,
    keeper,
    stored,
    store,
    scheduler,
    queues,
    publisher,
    database,
    clock,
    api,
    lines,
    definitions,
  };
}

/** Asserts that the published contract covers the answer. */
function checkPublished(method: string, path: string, { status, text }: Omit<Answered, 'json'>): void {
  const row = routes.find(
    (each) =>
      each.method === method &&
      new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+').replace('.', '\\.')}$`).test(path.replace(/\?.*/, '')),
  );
  if (!row) return;
  const isPublished = status < 400 ? status in row.answers : refusalCodes(row).includes((JSON.parse(text) as { code: ProblemCode }).code);
  assert.ok(isPublished, `${method} ${path} answers ${status} ${text}, which its row does not say`);
}

function checkLaws({ status, headers, text }: Omit<Answered, 'json'>): void {
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.equal(headers.get('strict-transport-security'), 'max-age=63072000');
  assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none';.* frame-ancestors 'none'$/);
  assert.equal(headers.get('access-control-allow-origin'), null);
  const requestId = headers.get('x-request-id');
  assert.match(requestId ?? '', /^[0-9a-f-]{36}$/);
  if (status < 400 || text === '') return;

  assert.equal(headers.get('content-type'), 'application/problem+json');
  assert.equal(headers.get('cache-control'), 'no-store');
  const problem = z.strictObject(Problem.shape).parse(JSON.parse(text));
  const known = problems[problem.code as keyof typeof problems];
  assert.deepEqual([problem.status, known.status, problem.requestId], [status, status, requestId]);
  assert.equal(problem.detail, known.detail, 'a detail contains only the text of its row');
  if (status === 401) assert.equal(headers.get('www-authenticate'), 'Bearer error="invalid_token"');
  if (status === 503 || status === 429) assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  if (status === 405) assert.ok(headers.get('allow'));
}
