import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, fullPath, notFound, serve } from './calls.ts';
import type { Ledger } from './ledger.ts';
import { type Answer, answer, refusal } from './service.ts';
import { type ServiceName, services } from './services.ts';
import { Change, type Switches } from './switches.ts';

export interface ShopRequest {
  readonly method: string;
  readonly url: URL;
  readonly idempotencyKey: string | undefined;
  readonly body: unknown;
}

const keyCharactersMax = 255;

/** Creates the routes: switches, list of effects, and the services as the switches change them. Undefined means no answer. */
export function createRoutes({ ledger, switches, closing }: { ledger: Ledger; switches: Switches; closing: AbortSignal }) {
  const atWork = new Set<string>();

  return async ({ method, url, idempotencyKey = '', body }: ShopRequest): Promise<Answer | undefined> => {
    if (url.pathname === '/switches') return changeSwitches(method, body, switches);
    const [, service = '', ...rest] = url.pathname.split('/');
    if (!isServiceName(service)) return notFound;
    const path = `/${rest.join('/')}`;
    if (path === '/effects') return method === 'GET' ? effects(service, url.searchParams.get('orderId'), ledger) : notFound;

    const call: Call = { service, method, path, query: url.searchParams, idempotencyKey, body };
    if (method !== 'POST') return serveAsSwitched(call);
    if (idempotencyKey === '' || idempotencyKey.length > keyCharactersMax) return refusal(400, 'idempotency-key-required');

    const requestKey = `${fullPath(call)} ${idempotencyKey}`;
    if (atWork.has(requestKey)) return refusal(409, 'request-in-progress');
    atWork.add(requestKey);
    return serveAsSwitched(call).finally(() => atWork.delete(requestKey));
  };

  async function serveAsSwitched(call: Call): Promise<Answer | undefined> {
    const fate = switches.fateOf(call.service);
    if (fate.latencyMs > 0) await sleep(fate.latencyMs, undefined, { signal: closing });
    const result = fate.takesEffect ? serve(call, ledger) : undefined;
    return fate.answer === 'failure' ? refusal(fate.failStatus, 'switched-to-fail') : fate.answer === 'asUsual' ? result : undefined;
  }
}

const isServiceName = (name: string): name is ServiceName => Object.hasOwn(services, name);

/** Returns all effects of an order, regardless of the switches. */
function effects(service: ServiceName, orderId: string | null, ledger: Ledger): Answer {
  return orderId === null ? refusal(400, 'bad-parameter') : answer(200, { effects: ledger.effects(service, orderId) });
}

function changeSwitches(method: string, body: unknown, switches: Switches): Answer {
  if (method === 'PUT') {
    const change = Change.safeParse(body);
    if (!change.success) return refusal(422, 'invalid-request', { issues: change.error.issues });
    switches.set(change.data);
  } else if (method === 'DELETE') switches.reset();
  else if (method !== 'GET') return notFound;
  return answer(200, switches.list());
}
