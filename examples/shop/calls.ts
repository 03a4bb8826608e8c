import type { Ledger, Recorded } from './ledger.ts';
import { type Answer, answer, type Decision, refusal } from './service.ts';
import { type ServiceName, services } from './services.ts';

/** One call of a service, such as POST /reservations of the inventory. */
export interface Call {
  readonly service: ServiceName;
  readonly method: string;
  /** Path below the service's own prefix: `/charges/ch_1/refund`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly idempotencyKey: string;
  readonly body: unknown;
}

export const notFound = refusal(404, 'not-found');

/** Answers a call. The process may crash at any moment: effect and answer are one write, and an undo can be repeated. */
export function serve(call: Call, ledger: Ledger): Answer {
  const { service, method, path, query, body } = call;
  const { collection, undoneBy, decide } = services[service];
  const [, root, id, verb, ...more] = path.split('/');
  if (root !== collection || more.length > 0) return notFound;

  if (id === undefined) {
    if (method === 'POST') return once(call, ledger, () => decide(body));
    if (method === 'GET') return show(ledger.byKey(fullPath(call), query.get('idempotencyKey') ?? ''), undoneBy);
  } else if (verb === undefined) {
    if (method === 'GET') return show(ledger.byId(service, id), undoneBy);
    if (method === 'DELETE' && undoneBy === 'delete') return remove(ledger.byId(service, id), call, ledger);
  } else if (verb === 'refund' && method === 'POST' && undoneBy === 'refund') {
    return once(call, ledger, () => refund(ledger.byId(service, id), call, ledger));
  }
  return notFound;
}

export const fullPath = ({ service, path }: Call): string => `/${service}${path}`;

/** Decides once for each idempotency key, and repeats that answer, even a refusal. The insert decides between two concurrent calls. */
function once(call: Call, ledger: Ledger, decide: () => Decision): Answer {
  const { service, idempotencyKey } = call;
  const first = ledger.answered(fullPath(call), idempotencyKey);
  if (first) return first;

  const decision = decide();
  if (ledger.add(service, fullPath(call), idempotencyKey, decision)) return decision.answer;
  return ledger.answered(fullPath(call), idempotencyKey) ?? notFound;
}

/** Shows a charge even after its refund. Deleted effects are not shown. */
function show(found: Recorded | undefined, undoneBy: string | undefined): Answer {
  if (!found || (found.undone && undoneBy === 'delete')) return notFound;
  return { status: 200, body: found.answer.body };
}

function remove(found: Recorded | undefined, { service }: Call, ledger: Ledger): Answer {
  if (!found || found.undone) return answer(204);
  if (found.undoRefusal) return found.undoRefusal;
  ledger.undo(service, found.id);
  return answer(204);
}

/** Refunds a charge once, under any key: the refund's id follows from the charge's. */
function refund(found: Recorded | undefined, { service }: Call, ledger: Ledger): Decision {
  if (!found) return { answer: notFound };
  ledger.undo(service, found.id);
  return { answer: answer(200, { refundId: `re_${found.id}` }) };
}
