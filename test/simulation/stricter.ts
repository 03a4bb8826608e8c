import { agentOfRequests, type Request } from '#ports/messages';
import type { Received } from '#ports/queues';
import { offers } from './app.ts';
import type { Clients } from './clients.ts';
import { chanceOf } from './random.ts';
import type { Services } from './services.ts';
import type { Surroundings } from './surroundings.ts';

const worldsWith = 0.1;
const fromMs = [500, 60_000] as const;
const lastsMs = [10_000, 120_000] as const;
/** The share of orders whose inputs the stricter schema refuses. */
const share = 0.7;
/**
 * Durations of the operations with a stricter schema. They are so long that most requests are resent, and that at-most-once
 * operations end just before their deadline.
 */
const slow = new Map<string, readonly [number, number]>([
  ...['stock.reserve', 'bank.charge'].map((operation) => [operation, [300, 40_000]] as const),
  ...['ledger.enter', 'ledger.post'].map((operation) => [operation, [7_000, 9_900]] as const),
]);
const has = ['sale', 'pair', 'entry', 'letter', 'renewal'];

/** Whether the deployed schema refuses a request. */
export type Stricter = (request: Request, isFirst: boolean) => boolean;

/**
 * Deploys a stricter schema for a while: it refuses requests that were valid when they were sent. All copies of a
 * request get the same answer on their first delivery, because agents do not remember refusals. A redelivered copy may
 * get another one.
 */
export function deployStricter(around: Surroundings, services: Services, clients: Clients, seed: number): void {
  const { timeline, faults } = around;
  const chance = chanceOf(seed + 9_000_011);
  if (!chance.happens(worldsWith)) return;
  let isDeployed = false;
  const at = chance.between(...fromMs);
  timeline.after(at, 'a stricter schema is deployed', () => {
    isDeployed = true;
    around.carriedOut('emitted stricter schema');
  });
  timeline.after(at + chance.between(...lastsMs), 'it is taken back', () => void (isDeployed = false));
  const orders = new Map<string, boolean>();
  /** The answer to the first delivery of each request, and the requests that were refused when they were redelivered. */
  const first = new Map<string, boolean>();
  const refusedAgain = new Set<string>();
  faults.stricter = ({ requestId, orderId }, isFirst) => {
    if (!orders.has(orderId)) orders.set(orderId, chance.happens(share));
    const before = first.get(requestId);
    if (before === true || (before === false && isFirst)) return before;
    if (!isFirst && refusedAgain.has(requestId)) return true;
    const refuses = isDeployed && !faults.over && orders.get(orderId) === true;
    if (isFirst) first.set(requestId, refuses);
    else if (refuses) refusedAgain.add(requestId);
    return refuses;
  };
  for (const [operation, ms] of slow) services.lasts.set(operation, () => chance.between(...ms));
  for (let number = chance.between(2, 4); number > 0; number--)
    clients.submitSomething(500 + number, chance.pick(offers.filter(({ workflow }) => has.includes(workflow))));
}

/** Returns messages as the current deployment reads them: it refuses marked ones (see `About`). */
export function asTaken<M extends Received>(queue: string, messages: readonly M[], around: Surroundings): readonly M[] {
  const agent = agentOfRequests(queue);
  const { faults } = around;
  const { stricter } = faults;
  if (!stricter || agent === undefined) return messages;
  return messages.map((message) => {
    const request = requestIn(message.body);
    if (!request) return message;
    const refuses = stricter(request, message.receiveCount === 1);
    if (refuses && request.attempt > 1) around.carriedOut('emitted later request refused by a stricter schema');
    if (refuses) faults.lands('stricter schema', `${agent}.${request.operation}`, { role: 'agent', orderId: request.orderId });
    const { tooMuch: _, ...input } = request.input as { readonly [field: string]: unknown };
    return { ...message, body: JSON.stringify({ ...request, input: { ...input, ...(refuses ? { tooMuch: true } : {}) } }) };
  });
}

/** Removes the mark of this world: an agent that requeues a message must send the original body. */
export const asSent = ({ stricter }: Pick<Surroundings['faults'], 'stricter'>, body: string): string =>
  stricter ? body.replace(',"tooMuch":true', '') : body;

/** Returns a request whose input holds more than the id of an effect, whether it was sent or requeued. */
function requestIn(body: string): Request | undefined {
  if (!body.startsWith('{"v":1,') || !body.includes('"type":"request"')) return undefined;
  const request = JSON.parse(body) as Request;
  return request.type === 'request' && typeof (request.input as { readonly what?: unknown } | null)?.what === 'string'
    ? request
    : undefined;
}
