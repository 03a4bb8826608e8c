import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, type Json, operation, sequence } from 'redress';
import * as z from 'zod';
import type { Store } from '#ports/store';
import { registerClient } from '#testing/world/register-client';
import { countIn, journalOf, lineOf, openDesk, orphansIn, stepsIn, stepsNamed, submitted, tea } from './support.ts';

const pending = { variables: { CLAIM_ON_SUBMIT: 'off' } };
const line = lineOf(stepsNamed('pick', 'pack'));

describe('an order is submitted', () => {
  test('F-03: the new order is Pending, unclaimed, without a deadline and without failures', async (context) => {
    const desk = openDesk(context, line, pending);
    const orderId = await submitted(desk);
    const { lockedBy, completeBy, processState, failureCount, ...state } = await desk.state(orderId);
    assert.deepEqual(
      { lockedBy, completeBy, processState, failureCount },
      { lockedBy: null, completeBy: null, processState: 'Pending', failureCount: 0 },
    );
    assert.equal(state.orderId, orderId);
    assert.equal((await desk.store.load(orderId))?.order.orderId, orderId);
  });

  test('F-03: the new order may be claimed in the write that creates it', async (context) => {
    const desk = openDesk(context, line);
    const { rev, epoch, processState, lockedBy, completeBy } = await desk.state(await submitted(desk));
    assert.deepEqual(
      { rev, epoch, processState, lockedBy, completeBy },
      { rev: 1, epoch: 1, processState: 'Processing', lockedBy: 'host-one', completeBy: desk.clock.now() + 10_000 },
    );
  });

  test('F-05: before an order is claimed, none of its steps has started; after the claim, only the first one has', async (context) => {
    const desk = openDesk(context, line, pending);
    const orderId = await submitted(desk);
    const statuses = async () => (await stepsIn(desk, orderId)).map(({ path, status }) => `${path} ${status}`);
    assert.deepEqual(await statuses(), ['order/pick Initialized', 'order/pack Initialized']);
    assert.deepEqual(
      (await journalOf(desk, orderId)).map(({ type }) => type),
      ['OrderSubmitted'],
    );

    await desk.deliver('wake-ups');
    assert.deepEqual(await statuses(), ['order/pick Executing', 'order/pack Initialized']);
  });

  test('S23, F-06: when it exceeds the size limit with all numbers written out, it is refused and not stored', async (context) => {
    const desk = openDesk(context, line);
    const refused = await desk.submit({ ...tea, grid: Array.from({ length: 13_000 }, () => 1e20) });
    assert.equal(refused.outcome === 'invalid' ? refused.problems[0]?.code : refused.outcome, 'too-large');
    assert.equal(countIn(desk, 'orders'), 0);
  });

  test('F-06: the state of the new order contains the response queue of the submitter', async (context) => {
    const desk = openDesk(context, line);
    await registerClient(desk.store, { id: 'acme', responseChannels: ['redress-response-acme'], senders: [] });
    const orderId = await submitted(desk, tea, { client: 'acme', responseChannel: 'redress-response-acme' });
    assert.equal((await desk.state(orderId)).responseChannel, 'redress-response-acme');
    assert.equal((await desk.state(await submitted(desk, tea, { client: 'acme' }))).responseChannel, null);
  });

  test('F-06: a response queue that is not registered for this client is refused, even if another client has it', async (context) => {
    const desk = openDesk(context, line);
    await registerClient(desk.store, { id: 'acme', responseChannels: ['redress-response-acme'], senders: [] });
    for (const [client, responseChannel] of [
      ['other', 'redress-response-acme'],
      ['acme', 'redress-response-other'],
      ['acme', 'https://evil.example/q'],
      ['acme', ''],
    ] as const) {
      const answer = await desk.submit(tea, { client, responseChannel });
      assert.deepEqual(answer.outcome === 'invalid' && answer.problems.map(({ pointer, code }) => [pointer, code]), [
        ['/responseChannel', 'unknown-response-channel'],
      ]);
    }
    assert.equal(countIn(desk, 'orders'), 0);
  });

  test('F-01: for an unknown workflow, it is refused with the names of the known ones', async (context) => {
    const desk = openDesk(context, line);
    const answer = await desk.submit(tea, { workflow: 'lime' });
    assert.deepEqual(answer, {
      outcome: 'invalid',
      problems: [{ pointer: '/workflow', code: 'unknown-workflow', detail: 'Unknown workflow. Known workflows: line.' }],
    });
    assert.equal(countIn(desk, 'orders'), 0);
  });
});

describe('two records in one transaction', () => {
  for (const when of ['before', 'after']) {
    for (const writesAndSendsAtomically of [true, false]) {
      test(`F-02: a submission that fails ${when} its transaction leaves no partial order (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, async (context) => {
        let broken = true;
        const create = async (store: Store, ...all: Parameters<Store['create']>): ReturnType<Store['create']> => {
          if (broken && when === 'before') throw new Error('gone');
          const created = await store.create(...all);
          if (broken) throw new Error('gone');
          return created;
        };
        const desk = openDesk(context, line, {
          writesAndSendsAtomically,
          around: ({ store }) => ({ store: { ...store, create: (...all) => create(store, ...all) } }),
        });
        for (let round = 0; round < 50; round++) {
          broken = true;
          await assert.rejects(desk.submit(tea, { key: `key ${round}` }), /gone/);
          assert.deepEqual(orphansIn(desk), []);

          broken = false;
          await submitted(desk, tea, { key: `key ${round}` });
        }
        assert.deepEqual(orphansIn(desk), []);
        assert.deepEqual([countIn(desk, 'orders'), countIn(desk, 'states')], [50, 50]);
      });
    }
  }

  test('F-02: a failure between the two inserts rolls back the first one, and no other order of the same commit', async (context) => {
    const desk = openDesk(context, line);
    const exec = (sql: string) => desk.database.prepare(sql).run();
    exec(
      "CREATE TRIGGER killed BEFORE INSERT ON states WHEN json_extract(NEW.head, '$.orderId') LIKE '%q' BEGIN SELECT RAISE(ABORT, 'killed'); END",
    );
    const attempt = () => Promise.allSettled(Array.from({ length: 60 }, (_, index) => desk.submit(tea, { key: `key ${index}` })));

    const first = await attempt();
    assert.ok(first.some(({ status }) => status === 'rejected') && first.some(({ status }) => status === 'fulfilled'));
    assert.deepEqual(orphansIn(desk), []);
    assert.equal(countIn(desk, 'orders'), first.filter(({ status }) => status === 'fulfilled').length);
    assert.equal(desk.messages('worker-requests').length, countIn(desk, 'orders'), 'an order that does not exist gets no request');

    exec('DROP TRIGGER killed');
    assert.ok((await attempt()).every(({ status }) => status === 'fulfilled'));
    assert.deepEqual(orphansIn(desk), []);
    assert.deepEqual([countIn(desk, 'states'), desk.messages('worker-requests').length], [60, 60]);
  });
});

describe('the same submission again', () => {
  test('F-10: with the same key returns the first order, and its first answer byte for byte', async (context) => {
    const desk = openDesk(context, line);
    const first = await desk.submit(tea, { key: 'k', reference: 'r' });
    await desk.clock.advance(15 * 60_000);
    const second = await desk.submit(tea, { key: 'k', reference: 'r' });
    assert.ok(first.outcome === 'accepted' && second.outcome === 'accepted');
    assert.deepEqual([first.replayed, second.replayed], [false, true]);
    assert.equal(second.order.answer, first.order.answer);
    assert.equal(countIn(desk, 'orders'), 1);
  });

  test('F-10: a hundred times in parallel is one order, accepted once and replayed 99 times', async (context) => {
    const desk = openDesk(context, line);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => desk.system.submit({ client: 'acme', idempotencyKey: 'k', order: tea })),
    );
    assert.deepEqual(answers.map((answer) => answer.outcome === 'accepted' && answer.replayed).sort(), [
      false,
      ...Array.from({ length: 99 }, () => true),
    ]);
    assert.equal(new Set(answers.map((answer) => answer.outcome === 'accepted' && answer.order.orderId)).size, 1);
    assert.deepEqual([countIn(desk, 'orders'), countIn(desk, 'states'), desk.messages('worker-requests').length], [1, 1, 1]);
  });

  test('F-10: may have its fields in another sequence', async (context) => {
    const free = freeForm();
    const desk = openDesk(context, free);
    await submitted(desk, { a: 1, b: { c: [1, { d: 2, e: 3 }], f: null } }, { key: 'k' });
    const again = await desk.submit({ b: { f: null, c: [1, { e: 3, d: 2 }] }, a: 1 }, { key: 'k' });
    assert.equal(again.outcome === 'accepted' && again.replayed, true);
    assert.equal(
      (await desk.submit({ a: 1, b: { c: [{ d: 2, e: 3 }, 1], f: null } }, { key: 'k' })).outcome,
      'key-reused',
      'a list with another sequence is another list',
    );
  });

  test('F-10: with any other content is refused, and nothing is written', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk, tea, { key: 'k', reference: 'one' });
    const before = await desk.store.load(orderId);
    const others: readonly (readonly [Json, { readonly reference?: string; readonly workflow?: string }])[] = [
      [{ item: 'coffee' }, { reference: 'one' }],
      [tea, { reference: 'two' }],
      [tea, {}],
    ];
    for (const [body, more] of others) assert.equal((await desk.submit(body, { key: 'k', ...more })).outcome, 'key-reused');
    assert.equal((await desk.submit({ item: 7 }, { key: 'k' })).outcome, 'key-reused', 'also where the other body is invalid');
    assert.deepEqual(await desk.store.load(orderId), before);
  });

  test('F-10: with another workflow or another response queue is refused, although the body is the same', async (context) => {
    const other = defineWorkflow('other', { version: 1, order: z.object({ item: z.string() }) }, () => sequence());
    const desk = openDesk(context, { ...line, workflows: [...line.workflows, other] });
    const queues = ['redress-response-one', 'redress-response-two'];
    await registerClient(desk.store, { id: 'acme', responseChannels: queues, senders: [] });
    const [responseChannel = '', another = ''] = queues;
    const first = { client: 'acme', key: 'k', workflow: 'line', responseChannel };
    const orderId = await submitted(desk, tea, first);
    const before = await desk.store.load(orderId);
    const { responseChannel: _, ...silent } = first;
    for (const more of [{ ...first, workflow: 'other' }, { ...first, responseChannel: another }, silent])
      assert.equal((await desk.submit(tea, more)).outcome, 'key-reused', JSON.stringify(more));
    assert.deepEqual(await desk.submit(tea, first), { outcome: 'accepted', order: before?.order, replayed: true });
    assert.deepEqual([await desk.store.load(orderId), countIn(desk, 'orders')], [before, 1]);
  });

  test('F-10: from another client is another order', async (context) => {
    const desk = openDesk(context, line);
    const ids = [
      await submitted(desk, tea, { client: 'a', key: 'bc' }),
      await submitted(desk, tea, { client: 'ab', key: 'c' }),
      await submitted(desk, tea, { client: 'a', key: 'b' }),
    ];
    assert.equal(new Set(ids).size, 3);
  });

  test('F-10: stays valid, even if its response queue was unregistered since', async (context) => {
    const desk = openDesk(context, line);
    await registerClient(desk.store, { id: 'acme', responseChannels: ['mine'], senders: [] });
    const orderId = await submitted(desk, tea, { client: 'acme', key: 'k', responseChannel: 'mine' });
    await registerClient(desk.store, { id: 'acme', responseChannels: [], senders: [] });
    assert.equal(await submitted(desk, tea, { client: 'acme', key: 'k', responseChannel: 'mine' }), orderId);
  });
});

describe('a body that the workflow does not accept', () => {
  const Order = z.object({
    customer: z.object({ id: z.string().min(1) }),
    items: z.array(z.object({ sku: z.string(), quantity: z.int().min(1).max(999) })).min(1),
    country: z.string().regex(/^[A-Z]{2}$/),
  });
  const agent = defineAgent('worker', { work: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }) });
  const app = defineApp({ workflows: [defineWorkflow('shop', { version: 1, order: Order }, () => agent.work({}))], agents: [agent] });
  const good = { customer: { id: 'c' }, items: [{ sku: 'tea', quantity: 1 }], country: 'GB' };

  const bad: readonly (readonly [string, Json, readonly string[]])[] = [
    ['lacks a field', { ...good, customer: {} }, ['/customer/id']],
    ['has a field of another type', { ...good, country: 7 }, ['/country']],
    ['has an unknown field', { ...good, failureCount: 0 }, ['/failureCount']],
    [
      'has an unknown field deep inside',
      { ...good, items: [good.items[0] as Json, { sku: 'a', quantity: 1, 'price/override': 1 }] },
      ['/items/1/price~1override'],
    ],
    ['exceeds a maximum', { ...good, items: [{ sku: 'tea', quantity: 1000 }] }, ['/items/0/quantity']],
    ['does not match a pattern', { ...good, country: 'gb' }, ['/country']],
    ['is wrong in two places', { ...good, customer: { id: '' }, items: [] }, ['/customer/id', '/items']],
    [
      'sets the prototype',
      JSON.parse('{"customer":{"id":"c","__proto__":{"admin":true}},"items":[{"sku":"tea","quantity":1}],"country":"GB"}') as Json,
      ['/customer/__proto__'],
    ],
    ['is not an object', 'tea', ['']],
    ['is null', null, ['']],
    ['is a list', [good], ['']],
  ];
  for (const [what, body, pointers] of bad) {
    test(`F-01: a body that ${what} is refused with its pointer, and nothing is written`, async (context) => {
      const desk = openDesk(context, app);
      const answer = await desk.submit(body);
      assert.deepEqual(
        answer.outcome === 'invalid' && answer.problems.map(({ pointer }) => pointer),
        pointers.map((pointer) => `/order${pointer}`),
      );
      assert.ok(answer.outcome === 'invalid' && answer.problems.every(({ code, detail }) => code && detail));
      assert.deepEqual([countIn(desk, 'orders'), countIn(desk, 'states'), countIn(desk, 'messages')], [0, 0, 0]);
    });
  }
});

/** An app that accepts any body. */
function freeForm() {
  const agent = defineAgent('worker', { work: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }) });
  return defineApp({
    workflows: [defineWorkflow('free', { version: 1, order: z.record(z.string(), z.unknown()) }, () => agent.work({}))],
    agents: [agent],
  });
}
