import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { StoreUnavailableError, UnreadableRecordError } from '#ports/errors';
import { createAudit } from '#roles/audit/audit';
import { createBulk } from '#roles/bulk/bulk';
import { createSinceFrozen } from '#roles/bulk/since-frozen';
import { createCurrentSteps } from '#roles/overview/steps';
import { createRules } from '#roles/rules/rules';
import { createSolutions } from '#roles/solutions/solutions';
import { createClientRate } from '#roles/submission/client-rate';
import { createTasks } from '#roles/tasks/tasks';
import { createHandler } from './handle.ts';
import { openApi } from './openapi.ts';
import { isRefusal, problems, type Refusal, refuse } from './problem.ts';
import { answerResponse, refusalResponse, unavailable, unreadable } from './responses.ts';
import type { Answer, ApiOptions, Route } from './route.ts';
import { routes as allRoutes } from './routes.ts';

export type { Issuer } from './authentication.ts';
export type { ApiOptions } from './route.ts';

type Work = (requestId: string) => Promise<Answer | Refusal> | Refusal;

/** Creates the HTTP API: serves every row of the route table in the same way, and answers every other request with a problem. */
export function createApi(options: ApiOptions, routes: readonly Route[] = allRoutes): Hono {
  let document: string | undefined;
  const handle = createHandler({
    ...options,
    openApi: () => (document ??= JSON.stringify(openApi(routes, options.definitions))),
    audit: createAudit(options),
    rules: options.rules ?? createRules(options),
    bulk: createBulk(options),
    tasks: createTasks(options),
    solutions: createSolutions(options),
    sinceFrozen: createSinceFrozen(options),
    steps: createCurrentSteps(options),
    clientRate: options.clientRate ?? createClientRate(options.config.clientOrdersPerSecond, options.clock),
  });
  const serve = createServing(options);

  const app = new Hono();
  for (const [path, rows] of byPath(routes)) {
    const byMethod = new Map(rows.map((row) => [row.method as string, row]));
    const allow = [...byMethod.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    const alsoMatches = routes.some((other) => other.path !== path && isMatched(path, other.path));
    app.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), (context, next) => {
      const { method, raw: request } = context.req;
      // Hono answers HEAD with the head of what GET would answer.
      const row = byMethod.get(method === 'HEAD' ? 'GET' : method);
      // Another path, with a parameter, also matches this URL and may have a row for this method.
      if (!row && alsoMatches) return next();
      const ids = { id: context.req.param('id') ?? context.req.param('version') ?? '', name: context.req.param('name') ?? '' };
      return serve(context, row, (requestId) =>
        row ? handle({ row, request, requestId, ...ids }) : refuse('method-not-allowed', { headers: { allow } }),
      );
    });
  }
  app.notFound((context) => serve(context, undefined, () => refuse('not-found')));
  return app;
}

/** Returns the rows of each path. A path without a parameter comes first: `/rules/back-test` before `/rules/{id}`. */
function byPath(routes: readonly Route[]): readonly (readonly [string, readonly Route[]])[] {
  const hasParameter = ([path]: readonly [string, unknown]): number => Number(path.includes('{'));
  return [...Map.groupBy(routes, ({ path }) => path)].toSorted((one, other) => hasParameter(one) - hasParameter(other));
}

/** Whether a path without a parameter is also one that a pattern describes: `/rules/back-test` is a `/rules/{id}`. */
const isMatched = (path: string, pattern: string): boolean =>
  !path.includes('{') && pattern.includes('{') && new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);

/** Creates the function that turns the outcome of a request into a response, and logs and counts it. */
function createServing({ clock, telemetry }: ApiOptions) {
  /** Turns an unreadable record, an outage or a bug into a problem. Only the log has the error of an outage or a bug. */
  async function withoutOutage(work: Work, requestId: string): Promise<Answer | Refusal> {
    try {
      return await work(requestId);
    } catch (error) {
      if (error instanceof UnreadableRecordError) return unreadable(error, clock.now());
      telemetry.log('error', 'call failed', { requestId, error });
      return error instanceof StoreUnavailableError ? unavailable : refuse('internal');
    }
  }

  return async ({ req: { method, url } }: Context, row: Route | undefined, work: Work): Promise<Response> => {
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
  };
}
