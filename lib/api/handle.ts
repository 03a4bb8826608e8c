import { bodyProblems } from '#roles/submission/submission';
import { anonymous, type Caller, createAuthentication } from './authentication.ts';
import { isBodiless, mediaRefusal, readBody } from './body.ts';
import { accepts } from './negotiation.ts';
import { readHeaders, readQuery } from './parameters.ts';
import { isRefusal, type Refusal, refuse } from './problem.ts';
import { unavailable } from './responses.ts';
import type { Answer, Call, Route } from './route.ts';
import { authorizationOf } from './session.ts';

/** A request for a route, with the values of its path. */
interface RouteCall extends Pick<Call, 'id' | 'name' | 'requestId'> {
  readonly row: Route;
  readonly request: Request;
}

export type Handle = (call: RouteCall) => Promise<Answer | Refusal>;

/** Creates the function that checks a request in this order: token, roles, Accept, form of the call. The route checks the rest. */
export function createHandler(api: Call['api']): Handle {
  const { clock, issuer, store, accepting = () => true } = api;
  const authenticate = createAuthentication(issuer, clock, (appClient) => store.clientOfApp(appClient));

  async function callerOf({ roles }: Route, { method, headers }: Request): Promise<Caller | Refusal> {
    if (roles === 'anyone') return anonymous;
    if (!accepting()) return unavailable;
    const authenticated = await authenticate(authorizationOf({ method, header: (name) => headers.get(name) }));
    if (authenticated.outcome === 'unavailable') return unavailable;
    if (authenticated.outcome === 'refused')
      return refuse('unauthenticated', { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } });
    return roles.some((role) => authenticated.caller.roles.has(role)) ? authenticated.caller : refuse('forbidden');
  }

  return async ({ row, request, requestId, id, name }) => {
    const caller = await callerOf(row, request);
    if (isRefusal(caller)) return caller;
    if (!accepts(request.headers.get('accept'), row.produces ? [row.produces] : ['application/json', 'application/problem+json']))
      return refuse('not-acceptable');
    // If the request has no body, 404 comes before complaints about its form. Otherwise the body is checked before the route answers 404.
    if (row.isThere && isBodiless(request.headers) && !(await row.isThere({ api, id, name }))) return refuse('not-found');
    const media = row.body && mediaRefusal(request.headers);
    if (media) return media;
    const query = row.roles === 'anyone' ? { value: {} } : readQuery(row.query, request.url);
    if (isRefusal(query)) return query;
    const headers = readHeaders(row.headers, request.headers);
    if (isRefusal(headers)) return headers;
    const body = await bodyOf(row, request);
    if (isRefusal(body)) return body;
    const values = { query: query.value, headers: headers.value, body: body.value };
    return row.handle({ api, caller, requestId, id, name, ...values } as Call<never, never>);
  };
}

async function bodyOf({ body: schema }: Route, request: Request): Promise<{ readonly value: unknown } | Refusal> {
  if (!schema) return { value: undefined };
  const read = await readBody(request);
  if (isRefusal(read)) return read;
  const checked = schema.safeParse(read.value);
  return checked.success ? { value: checked.data } : refuse('invalid', { errors: bodyProblems(schema, read.value, '') });
}
