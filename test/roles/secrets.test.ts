import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  cel,
  defineAgent,
  defineApp,
  defineWorkflow,
  delay,
  forEach,
  type Json,
  type JsonObject,
  operation,
  PermanentFailure,
  secret,
  sequence,
  TransientFailure,
} from 'redress';
import * as z from 'zod';
import { isSealed } from '#core/definition/sealed';
import { decodeInstance } from '#roles/scheduler/instance';
import { registerClient } from '#testing/world/register-client';
import { type Desk, journalOf, noting, openDesk, stateIn, submitted } from './support.ts';

const card = 'tok_canary_4711';
const pin = 48_151_623;
const token = 'out_canary_0815';
const Order = z.object({ item: z.string(), card: secret(z.string()), holder: z.object({ pin: secret(z.number()) }) });
const order = { item: 'tea', card, holder: { pin } };
const canaries = /tok_canary_4711|48151623|out_canary_0815/g;

type Answer = (input: { card: string; pin: number }) => unknown;

/** A shop that charges the card, then ships with the token from the till. */
function shop(charge: Answer, ship: (input: { token: string }) => unknown = () => ({}), collects = false) {
  const payment = defineAgent('worker', {
    charge: operation({
      input: z.object({ card: z.string(), pin: z.number() }),
      output: z.object({ id: z.string(), token: secret(z.string()), echo: z.unknown().optional() }),
      attemptsMax: 2,
      run: (input) => charge(input) as { id: string; token: string },
    }),
  });
  const parcels = defineAgent('parcels', {
    ship: operation({
      input: z.object({ token: z.string() }),
      output: z.object({ note: z.string().optional() }),
      attemptsMax: 2,
      run: (input) => ship(input) as object,
    }),
  });
  const workflow = defineWorkflow('shop', { version: 1, order: Order }, ({ order: body }) => {
    const charged = payment.charge({ card: body.card, pin: body.holder.pin });
    const tills = forEach(['this', 'that'], (till) => ({ do: charged, collect: { till, token: charged.output.token } })).named('tills');
    if (collects) return sequence(tills, parcels.ship({ token: cel<string>`${tills.output}[1].token` }));
    return sequence(charged, parcels.ship({ token: charged.output.token }));
  });
  return defineApp({ workflows: [workflow], agents: [payment, parcels] });
}
const paid = { id: 'c-1', token };

/** Returns the places where a secret appears in the outside views of an order or in the log. */
async function leaksOf(desk: Desk, orderId: string): Promise<readonly string[]> {
  const { blob: _, ...attributes } = await stateIn(desk.store, orderId);
  const places = {
    journal: await journalOf(desk, orderId),
    announcements: desk.announced(),
    statuses: desk.messages('mine'),
    wakeUps: desk.messages('wake-ups'),
    attributes,
    log: desk.log,
  };
  return Object.entries(places).flatMap(([place, content]) =>
    [...JSON.stringify(content).matchAll(canaries)].map(
      ({ input, index }) => `${place}: ${input.slice(Math.max(0, index - 80), index + 30)}`,
    ),
  );
}

async function played(
  context: TestContext,
  app: ReturnType<typeof shop>,
  writesAndSendsAtomically = true,
  body: JsonObject = order,
): Promise<{ desk: Desk; orderId: string; leaks: readonly string[] }> {
  const desk = openDesk(context, app, { writesAndSendsAtomically });
  await registerClient(desk.store, { id: 'acme', responseChannels: ['mine'], senders: [] });
  const orderId = await submitted(desk, body, { client: 'acme', responseChannel: 'mine' });
  for (let round = 0; round < 3; round++)
    for (const queue of ['worker-requests', 'worker-replies', 'parcels-requests', 'parcels-replies']) await desk.deliver(queue);
  return { desk, orderId, leaks: await leaksOf(desk, orderId) };
}

describe('a secret of an order', () => {
  for (const writesAndSendsAtomically of [true, false]) {
    test(`S24, F-34: reaches the agent that needs it, and no other view (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, async (context) => {
      const given: Json[] = [];
      const {
        desk,
        orderId,
        leaks: found,
      } = await played(
        context,
        shop(
          (input) => noting(given, input, paid),
          (input) => noting(given, input, {}),
        ),
        writesAndSendsAtomically,
      );
      assert.deepEqual(given, [{ card, pin }, { token }]);
      assert.equal((await desk.state(orderId)).processState, 'Processed');
      assert.deepEqual(found, []);
    });
  }

  test('S24, F-84: in an output that a loop collects reaches later steps, and is redacted where a service quotes it', async (context) => {
    const given: Json[] = [];
    const ship = (input: { token: string }) => noting(given, input, Promise.reject(new PermanentFailure('Broken', quote(input.token))));
    const {
      desk,
      orderId,
      leaks: found,
    } = await played(
      context,
      shop(() => paid, ship, true),
    );
    assert.deepEqual(given, [{ token }]);
    assert.equal((await desk.state(orderId)).processState, 'Error');
    assert.deepEqual(found, []);
  });

  const quote = (text: string) => `the till said no to ${text}`;
  const leaks: readonly (readonly [string, Answer])[] = [
    ['the message of a refusal', (input) => Promise.reject(new PermanentFailure('Broken', quote(input.card)))],
    ['the message of a refusal, as a number', (input) => Promise.reject(new PermanentFailure('Broken', quote(String(input.pin))))],
    [
      'the data of a refusal, nested',
      (input) => Promise.reject(new PermanentFailure('Broken', 'no', { data: { sent: [{ body: `{"card":"${input.card}"}` }] } })),
    ],
    [
      'the data of a refusal, as a number',
      (input) => Promise.reject(new PermanentFailure('Broken', 'no', { data: { sent: [input.pin] } })),
    ],
    [
      'the data of a refusal, as a field name',
      (input) => Promise.reject(new PermanentFailure('Broken', 'no', { data: { [input.card]: 'unknown' } })),
    ],
    ['a transient failure', (input) => Promise.reject(new TransientFailure(quote(input.card)))],
    ['an unexpected error that it throws', (input) => Promise.reject(new Error(quote(input.card)))],
    ['the name of an error that it throws', (input) => Promise.reject(Object.assign(new Error('no'), { name: input.card }))],
    ['an invalid output', (input) => ({ id: { card: input.card }, token })],
    ['a valid output', (input) => ({ ...paid, id: input.card, echo: { body: quote(input.card), pin: input.pin } })],
  ];
  for (const [where, answer] of leaks) {
    test(`S24: is redacted where a service quotes it in ${where}`, async (context) => {
      assert.deepEqual((await played(context, shop(answer))).leaks, []);
    });
  }

  test('S24: in the output of a step is redacted where the next service quotes it', async (context) => {
    const {
      desk,
      orderId,
      leaks: found,
    } = await played(
      context,
      shop(
        () => paid,
        (input) => Promise.reject(new PermanentFailure('Broken', quote(input.token))),
      ),
    );
    assert.equal((await desk.state(orderId)).processState, 'Error');
    assert.deepEqual(found, []);
    assert.equal((await desk.state(orderId)).fault?.message, 'the till said no to [secret]');
  });

  test('S24: is redacted where the end of a long message cuts it', async (context) => {
    const tooLong = ({ token: quoted }: { token: string }) => `${'x'.repeat(2048 - 6)}${quoted}`;
    const { desk, orderId } = await played(
      context,
      shop(
        () => paid,
        (input) => Promise.reject(new PermanentFailure('Broken', tooLong(input))),
      ),
    );
    const { message = '' } = (await desk.state(orderId)).fault ?? {};
    assert.match(message, /^x+\[secre…$/);
  });

  test('S24: in the output of a step is redacted where the service that undoes it quotes it', async (context) => {
    const refunds: Json[] = [];
    const till = defineAgent('worker', {
      charge: operation({ input: z.object({}), output: z.object({ token: secret(z.string()) }), run: () => ({ token }) }),
      refund: operation({
        input: z.object({ token: z.string() }),
        output: z.object({}),
        run: (input) => noting(refunds, input, Promise.reject(new PermanentFailure('TooLate', quote(input.token)))),
      }),
    });
    const workflow = defineWorkflow('shop', { version: 1, order: Order }, () =>
      sequence(
        till.charge({}).undo(({ token: charged }) => till.refund({ token: charged })),
        delay({ seconds: 3600 }),
      ),
    );
    const { desk, orderId } = await played(context, defineApp({ workflows: [workflow], agents: [till] }) as ReturnType<typeof shop>);
    await desk.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'ada', reason: 'changed their mind' }, { id: 'cancel' });
    for (const queue of ['worker-requests', 'worker-replies']) await desk.deliver(queue);
    assert.deepEqual(refunds, [{ token }]);
    const failed = (await journalOf(desk, orderId)).find(({ type }) => type === 'UndoFailed');
    assert.match(JSON.stringify(failed), /the till said no to \[secret\]/);
    assert.deepEqual(await leaksOf(desk, orderId), []);
  });

  test('S24, A9: is refused in an expression that does more than pass it on', () => {
    const worker = defineAgent('worker', {
      work: operation({ input: z.object({ text: z.string() }), output: z.object({}), run: () => ({}) }),
    });
    const refusal = /order\.(holder\.pin|card) holds a secret, which the workflow sees only encrypted/;
    assert.throws(
      () => defineWorkflow('shop', { version: 1, order: Order }, ({ order: body }) => delay({ seconds: body.holder.pin })),
      refusal,
    );
    for (const text of [cel<string>`{'a': 'b'}[order.card]`, cel<string>`order.card + '!'`, cel<string>`order.card == 'x' ? 'a' : 'b'`])
      assert.throws(() => defineWorkflow('shop', { version: 1, order: Order }, () => worker.work({ text })), refusal);
  });

  test('S24: is redacted in an output even if it is short', async (context) => {
    const { desk, orderId } = await played(
      context,
      shop(() => ({ id: 'c-1', token: 'abc' })),
    );
    const closed = (await journalOf(desk, orderId)).find(
      ({ type, ...entry }) => type === 'ActivityClosed' && 'path' in entry && entry.path === 'order/charge',
    );
    assert.deepEqual(closed && 'output' in closed && closed.output, { id: 'c-1', token: '[secret]' });
  });

  const cards = z.looseRecord(z.string().regex(/^card/), secret(z.string()));
  test('S24: in a field whose name matches a pattern reaches the agent that declares it, and no other view', async (context) => {
    const given: Json[] = [];
    const till = defineAgent('worker', {
      charge: operation({
        input: z.object({ cards }),
        output: z.object({}),
        run: (input) => noting(given, input, Promise.reject(new PermanentFailure('Broken', quote(input.cards['cardHers'] ?? '')))),
      }),
    });
    const workflow = defineWorkflow('shop', { version: 1, order: z.object({ cards }) }, ({ order: body }) =>
      till.charge({ cards: body.cards }),
    );
    const app = defineApp({ workflows: [workflow], agents: [till] }) as ReturnType<typeof shop>;
    const { desk, orderId, leaks: found } = await played(context, app, true, { cards: { cardHers: card } });
    assert.deepEqual(given, [{ cards: { cardHers: card } }]);
    assert.equal((await desk.state(orderId)).fault?.message, 'the till said no to [secret]');
    assert.deepEqual(found, []);
  });

  test('S24: in a field that an operation coerces is redacted where the service quotes it', async (context) => {
    const lenient: readonly z.ZodType[] = [
      secret(z.coerce.string()),
      secret(z.string()).catch('none'),
      z.preprocess((value) => value, secret(z.string())),
      z.object({ number: secret(z.string()) }).catch({ number: 'none' }),
    ];
    for (const field of lenient) {
      const till = defineAgent('worker', {
        charge: operation({
          input: z.object({ card: field }),
          output: z.object({}),
          run: (input) => Promise.reject(new PermanentFailure('Broken', quote(JSON.stringify(input)))),
        }),
      });
      const workflow = defineWorkflow('shop', { version: 1, order: z.object({ card: z.unknown() }) }, ({ order: body }) =>
        till.charge({ card: body.card }),
      );
      const app = defineApp({ workflows: [workflow], agents: [till] }) as ReturnType<typeof shop>;
      const { leaks: found } = await played(context, app, true, { card: field instanceof z.ZodCatch ? { number: card } : card });
      assert.deepEqual(found, []);
    }
  });

  test('S24: in a malformed request is not quoted in the log', async (context) => {
    const desk = openDesk(
      context,
      shop(() => paid),
    );
    await desk.send('worker-requests', `{"card":"${card}"x}`);
    assert.equal(await desk.deliver('worker-requests'), 0);
    assert.match(desk.log.join(''), /This is not a valid message for an agent/);
    assert.doesNotMatch(desk.log.join(''), canaries);
  });

  test('S24, A9: is stored only where the order needs it, and encrypted: in its body, and in the values that later steps read', async (context) => {
    const { desk, orderId } = await played(
      context,
      shop(
        () => paid,
        () => new Promise(() => {}),
      ),
    );
    const { state, tail } = decodeInstance(await stateIn(desk.store, orderId));
    const { id, token: sealed } = state.outputs['order/charge'] as { readonly id: string; readonly token: string };
    assert.equal(id, paid.id);
    assert.ok(isSealed(sealed), 'the next step needs it');
    assert.doesNotMatch(JSON.stringify([tail, state]), canaries);
  });
});
