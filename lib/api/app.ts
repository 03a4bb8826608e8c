import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { StoreUnavailableError, UnreadableRecordError } from '#ports/errors';
import { bodyProblems } from '#roles/submission/submission';
import { anonymous, type Caller, createAuthentication } from './authentication.ts';
import { isBodiless, mediaRefusal, readBody } from './body.ts';
import { accepts } from './negotiation.ts';
import { openApi } from './openapi.ts';
import { readHeaders, readQuery } from './parameters.ts';
import { isRefusal, problems, problemText, type Refusal, refuse } from './problem.ts';
import { createClientRate } from './rate-limit.ts';
import type { Answer, ApiOptions, Call, Route } from './route.ts';
import { routes as allRoutes } from './routes.ts';

export type { Issuer } from './authentication.ts';
export type { ApiOptions } from './route.ts';

type Work = (requestId: string) => Promise<Answer | Refusal> | Refusal;

/** Time for the store to recover, or for another process to take over. */
const retryAfterSeconds = '2';

/** Creates the HTTP API: serves every row of the table in the same way, and answers every other request with a problem. */
export function createApi(options: ApiOptions, routes: readonly Route[] = allRoutes): Hono {
  const { clock, telemetry, issuer, definitions, accepting = () => true } = options;
  const authenticate = createAuthentication(issuer, clock);
  let document: string | undefined;
  const api = {
    ...options,
    openApi: () => (document ??= JSON.stringify(openApi(routes, definitions))),
    clientRate: createClientRate(options.config.clientOrdersPerSecond, clock),
  };

  /** Checks in this order: authentication, authorization, the form of the request, its meaning. */
  async function conduct(
    row: Route,
    request: Request,
    { id, name }: Pick<Call, 'id' | 'name'>,
    requestId: string,
  ): Promise<Answer | Refusal> {
    const caller = await callerOf(row, request);
    if (isRefusal(caller)) return caller;
    if (!accepts(request.headers.get('accept'), row.produces ? [row.produces] : ['application/json', 'application/problem+json']))
      return refuse('not-acceptable');
    if (row.isThere && isBodiless(request.headers) && !(await row.isThere({ api, id, name }))) return refuse('not-found');
    const media = row.body && mediaRefusal(request.headers);
    if (media) return media;
    const query = row.roles === 'anyone' ? { value: {} } : readQuery(row.query, request.url);
    if (isRefusal(query)) return query;
    const headers = readHeaders(row.headers, request.headers);
    if (isRefusal(headers)) return headers;
    const body = await bodyOf(row, request);
    if (isRefusal(body)) return body;
    return row.handle({
      api,
      caller,
      requestId,
      id,
      name,
      query: query.value,
      headers: headers.value,
      body: body.value,
    } as Call<never, never>);
  }

  async function callerOf({ roles }: Route, { headers }: Request): Promise<Caller | Refusal> {
    if (roles === 'anyone') return anonymous;
    if (!accepting()) return unavailable;
    const authenticated = await authenticate(headers.get('authorization'));
    if (authenticated.outcome === 'unavailable') return unavailable;
    if (authenticated.outcome === 'refused')
      return refuse('unauthenticated', { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
    return roles.some((role) => authenticated.caller.roles.has(role)) ? authenticated.caller : refuse('forbidden');
  }

  async function serve({ req: { method, url } }: Context, row: Route | undefined, work: Work): Promise<Response> {
    const requestId = randomUUID();
    const outcome = await withoutOutage(work, requestId);
    const status = isRefusal(outcome) ? problems[outcome.problem].status : outcome.status;
    const orderId = isRefusal(outcome) ? undefined : outcome.orderId;
    telemetry.count(`http${status}`);
    telemetry.log('info', 'call', {
      method,
      route: row?.path ?? 'none',
      status,
      requestId,
      ...(orderId ? { orderId } : {}),
      ...(isRefusal(outcome) ? { code: outcome.problem } : {}),
    });
    return isRefusal(outcome) ? refusalResponse(outcome, url, requestId) : answerResponse(outcome, row, requestId);
  }

  /** Turns an outage or a bug into a problem. Only the log has the cause. */
  async function withoutOutage(work: Work, requestId: string): Promise<Answer | Refusal> {
    try {
      return await work(requestId);
    } catch (error) {
      if (error instanceof UnreadableRecordError) return unreadable(error, clock.now());
      telemetry.log('error', 'call failed', { requestId, error });
      return error instanceof StoreUnavailableError ? unavailable : refuse('internal');
    }
  }

  const app = new Hono();
  for (const [path, rows] of Map.groupBy(routes, ({ path }) => path)) {
    const byMethod = new Map(rows.map((row) => [row.method as string, row]));
    const allow = [...byMethod.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    app.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), (context) => {
      const { method } = context.req;
      // Hono answers HEAD with the head of what GET would answer.
      const row = byMethod.get(method === 'HEAD' ? 'GET' : method);
      return serve(context, row, (requestId) =>
        row
          ? conduct(row, context.req.raw, { id: context.req.param('id') ?? '', name: context.req.param('name') ?? '' }, requestId)
          : refuse('method-not-allowed', { headers: { allow } }),
      );
    });
  }
  app.notFound((context) => serve(context, undefined, () => refuse('not-found')));
  return app;
}

const unavailable = refuse('unavailable', { headers: { 'retry-after': retryAfterSeconds } });

/** During a rollout, a process of the newer version can read the record soon. After it, the record is quarantined and operators are alerted. */
function unreadable({ orderId, reason, newerUntil = 0 }: UnreadableRecordError, now: number): Refusal {
  if (newerUntil > now) return refuse('unavailable', { headers: { 'retry-after': rolloutRetrySeconds } });
  const detail = `The record of order ${orderId} cannot be read: ${reason}. The system alerts the operators.`;
  return refuse('conflict', { errors: [{ pointer: '', code: 'unreadable', detail }] });
}

const rolloutRetrySeconds = '30';

/** Headers of every response. Without CORS headers, a page of another origin cannot call the API. */
const always = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'strict-transport-security': 'max-age=63072000',
};

async function bodyOf({ body: schema }: Route, request: Request): Promise<{ readonly value: unknown } | Refusal> {
  if (!schema) return { value: undefined };
  const read = await readBody(request);
  if (isRefusal(read)) return read;
  const checked = schema.safeParse(read.value);
  return checked.success ? { value: checked.data } : refuse('invalid', { errors: bodyProblems(schema, read.value, '') });
}

function answerResponse({ status, text, headers }: Answer, row: Route | undefined, requestId: string): Response {
  const type = row?.produces === 'text/html' ? 'text/html; charset=utf-8' : 'application/json';
  return new Response(status === 304 ? null : text, {
    status,
    headers: {
      ...always,
      'x-request-id': requestId,
      ...(status === 304 ? {} : { 'content-type': type }),
      'cache-control': 'no-store',
      ...headers,
    },
  });
}

const instanceCharactersMax = 512;

function refusalResponse(refusal: Refusal, url: string, requestId: string): Response {
  const instance = new URL(url).pathname.slice(0, instanceCharactersMax);
  const headers = {
    ...always,
    'x-request-id': requestId,
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...refusal.headers,
  };
  return new Response(problemText(refusal, { requestId, instance }), { status: problems[refusal.problem].status, headers });
}
