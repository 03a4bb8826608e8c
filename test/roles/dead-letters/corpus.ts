import * as fc from 'fast-check';
import { queueNames, SubmissionMessage, ToAgent } from '#ports/messages';
import { parseIncoming } from '#roles/scheduler/incoming';

/** A malformed message, and the queue that receives it. */
export interface Malformed {
  readonly queue: string;
  readonly kind: string;
  readonly body: string;
}

/** A registered client, and an unregistered one. */
export const clients = { known: 'client', stranger: 'stranger' } as const;
export const agent = 'bank';

const at = '2026-01-01T00:00:00.000Z';
const request = { v: 1, requestId: 'ord_x/order/pay/1#1.1', orderId: 'ord_x', path: 'order/pay', attempt: 1, epoch: 1 };
type Message = { readonly [field: string]: unknown };
/** Well-formed messages of each type, by queue. */
const sound: { readonly [queue: string]: readonly [Message, ...Message[]] } = {
  [queueNames.requests(agent)]: [
    { ...request, type: 'request', operation: 'charge', completeBy: at, remainingMs: 1000, idempotencyKey: 'k', input: {} },
    { v: 1, type: 'cancel', requestId: request.requestId, orderId: request.orderId, path: request.path, idempotencyKey: 'k' },
  ],
  [queueNames.replies(agent)]: [
    { ...request, type: 'reply', sentAt: at, result: { status: 'succeeded', output: {} } },
    { ...request, type: 'heartbeat', sentAt: at, completeBy: at },
  ],
  [queueNames.wakeUps]: [{ v: 1, type: 'wake-up', orderId: 'ord_x', sentAt: at }],
  [queueNames.submissions]: [{ v: 1, type: 'submission', idempotencyKey: 'k', client: clients.known, workflow: 'sale', order: {} }],
};

const queue = fc.constantFrom(...Object.keys(sound));
const soundOn = (name: string, index = 0): Message => {
  const all = sound[name] ?? [{}];
  return all[index % all.length] ?? {};
};
const text = fc.string({ unit: 'grapheme', maxLength: 200 });
const json = fc.json({ maxDepth: 4 });
const strangeKey = fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', '\u0000', '\u202e', '', 'then');

/** Whether no reader of this queue can parse the body. */
export function isMalformed(name: string, body: string): boolean {
  if (name === queueNames.requests(agent)) return !ToAgent.safeParse(jsonIn(body)).success;
  if (name === queueNames.submissions) {
    const { data } = SubmissionMessage.safeParse(jsonIn(body));
    return data?.client !== clients.known;
  }
  return parseIncoming(body, name) === undefined;
}

export function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const changed = (change: (message: { [field: string]: unknown }, given: unknown, field: string) => void): fc.Arbitrary<[string, string]> =>
  fc.tuple(queue, fc.jsonValue({ maxDepth: 3 }), fc.nat(), fc.nat()).map(([name, given, index, type]) => {
    const message = { ...soundOn(name, type) };
    const fields = Object.keys(message);
    change(message, given, fields[index % fields.length] ?? 'v');
    return [name, JSON.stringify(message)];
  });

const on = (body: fc.Arbitrary<string>): fc.Arbitrary<[string, string]> => fc.tuple(queue, body);

/** Generators by kind. `corpus` drops the results that are well-formed by chance. */
const kinds: { readonly [kind: string]: fc.Arbitrary<[string, string]> } = {
  'no JSON': on(text),
  'cut off': fc.tuple(queue, fc.nat()).map(([name, cut]) => {
    const whole = JSON.stringify(soundOn(name));
    return [name, whole.slice(0, cut % whole.length)];
  }),
  'some JSON': on(json),
  'a list of messages': queue.map((name) => [name, JSON.stringify([soundOn(name), soundOn(name)])]),
  'another value': changed((message, given, field) => void (message[field] = given)),
  null: changed((message, _, field) => void (message[field] = null)),
  'a field is missing': changed((message, _, field) => void delete message[field]),
  'an unknown type': changed((message, given) => void (message['type'] = typeof given === 'string' ? given : JSON.stringify(given))),
  'a version that there never was': changed((message, given) => void (message['v'] = typeof given === 'number' ? -Math.abs(given) : given)),
  'a newer version': changed((message, given) => Object.assign(message, { v: 2 + (JSON.stringify(given).length % 9), more: given })),
  'names of the language': fc.tuple(queue, strangeKey, json).map(([name, key, value]) => [name, `{${JSON.stringify(key)}:${value},"v":1}`]),
  'another asking': fc
    .nat()
    .map((epoch) => [queueNames.replies(agent), JSON.stringify({ ...soundOn(queueNames.replies(agent)), epoch: epoch + 2 })]),
  'a stranger': text.map((key) => [
    queueNames.submissions,
    JSON.stringify({ ...soundOn(queueNames.submissions), client: `${clients.stranger}${key}` }),
  ]),
  'deeply nested': fc
    .tuple(queue, fc.integer({ min: 5_000, max: 40_000 }), fc.constantFrom('[', '{"a":'))
    .map(([name, depth, open]) => [
      name,
      `{"v":1,"type":"submission","client":"stranger","idempotencyKey":"k","order":${open.repeat(depth)}1${(open === '[' ? ']' : '}').repeat(depth)}}`,
    ]),
  'nested beyond what can be written': fc
    .integer({ min: 5_000, max: 40_000 })
    .map((depth) => [queueNames.wakeUps, `{"v":3,"type":"wake-up","more":${'['.repeat(depth)}${']'.repeat(depth)}}`]),
  huge: fc
    .tuple(queue, fc.integer({ min: 100_000, max: 250_000 }), text)
    .map(([name, length, words]) => [name, `${words}x`.repeat(length / (words.length + 1))]),
  // A heartbeat is short-lived: the agent drops it, because the next one follows.
  'an empty report': fc.constant([queueNames.replies(agent), JSON.stringify({ ...request, type: 'heartbeat' })]),
  'an envelope of another queue': queue.map((name) => [
    name,
    JSON.stringify({ v: 1, type: 'poison', queue: 'other', messageId: 'm', sentAt: 0, reason: '', attempts: [], failures: 0, body: '' }),
  ]),
  'invisible characters': fc
    .tuple(queue, fc.constantFrom('\ufeff', '\u2028', '\u0000', '\u202e'))
    .map(([name, mark]) => [name, mark + JSON.stringify(soundOn(name))]),
};

/** Kinds that are costly to generate are rare. */
const rare: ReadonlySet<string> = new Set(['huge', 'deeply nested', 'nested beyond what can be written']);

/** Returns `count` malformed messages, the same for the same seed. */
export function corpus(count: number, seed: number): readonly Malformed[] {
  const all = fc.oneof(
    ...Object.entries(kinds).map(([kind, arbitrary]) => ({
      weight: rare.has(kind) ? 1 : 20,
      arbitrary: arbitrary.map(([name, body]): Malformed => ({ kind, queue: name, body })),
    })),
  );
  return fc.sample(
    all.filter(({ queue: name, body }) => body !== '' && isMalformed(name, body)),
    { numRuns: count, seed },
  );
}

export const kindNames: readonly string[] = Object.keys(kinds);
