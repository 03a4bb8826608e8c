import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { askOperator, defineAgent, defineApp, defineWorkflow, operation, secret, sequence } from 'redress';
import * as z from 'zod';
import { startApi } from './support.ts';

const nothing = z.object({});
const till = defineAgent('till', {
  charge: operation({
    input: z.object({ card: z.string() }),
    output: z.object({ id: z.string(), token: secret(z.string()) }),
    run: () => ({ id: 'c', token: 't' }),
  }),
  refund: operation({ input: z.object({ id: z.string(), token: z.string(), card: z.string() }), output: nothing, run: () => ({}) }),
  tell: operation({ input: z.object({ price: z.number() }), output: nothing, run: () => ({}) }),
});
const Order = z.object({ card: secret(z.string()) });
const Answer = z.strictObject({ price: z.number().min(1) });
const priced = defineWorkflow('fulfil-order', { version: 1, order: Order }, ({ order }) => {
  const charge = till.charge({ card: order.card }).undo(({ id, token }) => till.refund({ id, token, card: order.card }));
  const price = askOperator('price', { question: 'What is the price?', details: { card: order.card, of: 'tea' }, answer: Answer });
  return sequence(charge, price, till.tell({ price: price.output.price }));
});
const app = defineApp({ workflows: [priced], agents: [till] });
const card = 'tok_canary_1';

async function withQuestion() {
  const system = startApi({ app });
  const orderId = await system.submitOrder('k', { body: { order: { card } } });
  await system.answer('till', { status: 'succeeded', output: { id: 'c-1', token: 'token_canary_2' } });
  const show = async () => (await system.ask('GET', `/orders/${orderId}`, { as: 'operator' })).json;
  const instruct = async (body: object) =>
    system.ask('POST', `/orders/${orderId}/instructions`, { as: 'operator', headers: { 'if-match': `"${(await show()).rev}"` }, body });
  const resubmit = (more: object = {}) => instruct({ kind: 'resubmit', reason: 'asked around', ...more });
  return { ...system, orderId, show, instruct, resubmit };
}

describe('an order with a question to a person', () => {
  test('is in Error with the question and its details, announced once and not as a failure', async () => {
    const { show, publisher, orderId } = await withQuestion();
    const { processState, fault } = await show();
    assert.deepEqual(
      [processState, fault],
      [
        'Error',
        {
          type: 'OperatorAsked',
          class: 'expected',
          message: 'What is the price?',
          permanent: true,
          source: 'order/price',
          data: { card: '[secret]', of: 'tea' },
        },
      ],
    );
    assert.deepEqual(
      publisher.published(0, 100).map(({ detailType, detail }) => [detailType, detail['type'], detail['message']]),
      [
        ['Order In Error', 'OperatorAsked', 'What is the price?'],
        ['Task Opened', undefined, undefined],
      ],
    );
    assert.ok(!JSON.stringify(publisher.published(0, 100)).includes('canary'), orderId);
  });

  test('gets its answer with a resubmission, and later steps read it', async () => {
    const { resubmit, queues, show } = await withQuestion();
    assert.equal((await resubmit({ answer: { price: 7 }, dryRun: true })).json.requests[0].path, 'order/tell');
    assert.equal((await resubmit({ answer: { price: 7 } })).status, 202);
    const [message] = await queues.receive('till-requests', { max: 1, visibilityMs: 1000, waitMs: 0 });
    assert.deepEqual((JSON.parse(message?.body ?? '{}') as { input: unknown }).input, { price: 7 });
    assert.equal((await show()).processState, 'Processing');
  });

  test('stays blocked without an answer, and an invalid answer is refused with pointers', async () => {
    const { resubmit, stored } = await withQuestion();
    const before = await stored();
    const missing = await resubmit();
    assert.deepEqual([missing.status, missing.json.code], [409, 'infeasible']);
    assert.match(missing.json.errors[0].detail, /What is the price\?.*answer/);
    for (const [answer, pointer] of [
      [{ price: 0 }, '/answer/price'],
      [{ price: 1, more: 1 }, '/answer/more'],
      [null, '/answer'],
    ] as const) {
      const { status, json } = await resubmit({ answer });
      assert.deepEqual([status, json.code, json.errors[0].pointer], [422, 'invalid', pointer]);
    }
    assert.equal(await stored(), before);
  });

  test('is the only kind of order that accepts an answer: an order that a fault has blocked refuses one', async () => {
    const { orderInError, ask } = startApi();
    const orderId = await orderInError('k');
    const body = { kind: 'resubmit', reason: 'r', answer: 1, dryRun: true };
    const { status, json } = await ask('POST', `/orders/${orderId}/instructions`, { as: 'operator', body });
    assert.deepEqual([status, json.feasible, json.refusals.map(({ code }: { code: string }) => code)], [200, false, ['no-question']]);
  });
});

describe('the plan of an undo', () => {
  test('shows an operator what would be undone, in order, without secrets, like the dry run of compensate', async () => {
    const { ask, orderId, instruct } = await withQuestion();
    const { status, json } = await ask('GET', `/orders/${orderId}/plan`, { as: 'operator' });
    assert.equal(status, 200);
    const input = { id: 'c-1', token: '[secret]', card: '[secret]' };
    const plan = {
      scope: 'order',
      steps: [{ path: 'order/charge', agent: 'till', operation: 'refund', input, outcomeUnknown: false }],
      withoutUndo: [],
    };
    assert.deepEqual(json, { orderId, ...plan });
    assert.deepEqual((await ask('GET', `/orders/${orderId}/plan?undo=order`, { as: 'admin' })).json, json);
    const dry = await instruct({ kind: 'compensate', reason: 'r', dryRun: true });
    assert.deepEqual([dry.status, dry.json.undo], [200, plan]);
  });

  test('is refused for an unknown scope as a bad parameter, for an unknown order as not found, and to clients as forbidden', async () => {
    const { ask, orderId } = await withQuestion();
    const plan = async (query: string, as: 'operator' | 'acme' = 'operator', id = orderId) =>
      (await ask('GET', `/orders/${id}/plan${query}`, { as })).json.code;
    assert.deepEqual(
      [await plan('?undo=nowhere'), await plan('?undo='), await plan('?undo=charge'), await plan('?scope=order')],
      ['bad-parameter', 'bad-parameter', 'bad-parameter', 'bad-parameter'],
    );
    assert.deepEqual([await plan('', 'operator', 'ord_no'), await plan('', 'acme')], ['not-found', 'forbidden']);
  });

  test('is computed from the journal if the instance is damaged', async () => {
    const { ask, orderId, database } = await withQuestion();
    const { blob } = database.prepare('SELECT blob FROM states').get() as { blob: string };
    database.prepare('UPDATE states SET blob = ?').run(blob.replace(/"state":.*/, '"sta'));
    const { steps } = (await ask('GET', `/orders/${orderId}/plan`, { as: 'operator' })).json;
    assert.deepEqual(
      steps.map(({ path, outcomeUnknown }: { path: string; outcomeUnknown: boolean }) => [path, outcomeUnknown]),
      [['order/charge', true]],
    );
    assert.ok((await ask('GET', `/orders/${orderId}/history`, { as: 'operator' })).json.items.length > 2);
  });
});

describe('an undo that keeps failing', () => {
  async function stuck() {
    const system = await withQuestion();
    await system.instruct({ kind: 'compensate', reason: 'r' });
    const refuse = () =>
      system.answer('till', { status: 'failed', fault: { type: 'RequestRefused', class: 'unexpected', permanent: true, message: 'no' } });
    const mark = (more: object = {}) => system.instruct({ kind: 'mark-compensated', reason: 'refunded by hand', ...more });
    return { ...system, refuse, mark };
  }

  test('can be marked as done by a person with a reason, and the order continues to its end', async () => {
    const { refuse, mark, show, publisher, ask, orderId } = await stuck();
    await refuse();
    assert.ok(publisher.published(0, 100).some(({ detailType }) => detailType === 'Compensation Stuck'));
    assert.equal((await mark({ dryRun: true })).status, 200);
    assert.equal((await mark()).status, 202);
    assert.deepEqual([(await show()).processState, (await show()).outcome], ['Processed', 'compensated']);
    const { items } = (await ask('GET', `/orders/${orderId}/history?limit=100`, { as: 'operator' })).json;
    const marked = items.find(({ type }: { type: string }) => type === 'MarkedCompensated');
    assert.equal(marked.path, 'order/charge');
    assert.ok(
      items.some(({ kind, reason }: { kind?: string; reason?: string }) => kind === 'mark-compensated' && reason === 'refunded by hand'),
    );
  });

  test('is shown as what the order waits for, in lists too, from its first failure until a person marks it as done', async () => {
    const { refuse, mark, show, ask } = await stuck();
    const waits = async () => [(await show()).waitsFor, (await ask('GET', '/orders', { as: 'operator' })).json.items[0].waitsFor];
    assert.deepEqual(await waits(), [null, null]);
    await refuse();
    const [ofOrder, inList] = await waits();
    assert.deepEqual(inList, ofOrder);
    assert.partialDeepStrictEqual(inList, { kind: 'undo', path: 'order/charge' });
    await mark();
    assert.deepEqual(await waits(), [null, null]);
  });

  test('F-153: belongs to an order that is shown as being undone, in lists too, until the undo is over', async () => {
    const { refuse, mark, instruct, show, ask } = await stuck();
    const marks = async () => [(await show()).undoing, (await ask('GET', '/orders', { as: 'operator' })).json.items[0].undoing];
    assert.deepEqual(await marks(), [true, true]);
    await refuse();
    await instruct({ kind: 'suspend', reason: 'r' });
    assert.deepEqual(await marks(), [true, true]);
    await instruct({ kind: 'resume', reason: 'r' });
    await mark();
    assert.deepEqual(await marks(), [false, false]);
  });

  test('is marked by the path of its step or by the path of its undo, which the alert names', async () => {
    const { refuse, mark } = await stuck();
    await refuse();
    const wrong = await mark({ path: 'order/price' });
    assert.deepEqual([wrong.status, wrong.json.code], [409, 'infeasible']);
    assert.match(wrong.json.errors[0].detail, /order\/charge/);
    assert.equal((await mark({ path: 'order/charge', dryRun: true })).status, 200);
    assert.equal((await mark({ path: 'order/charge/undo' })).status, 202);
  });

  test('cannot be marked before it has failed, and an order without a failing undo has nothing to mark', async () => {
    const { mark, stored } = await stuck();
    const before = await stored();
    const early = await mark();
    assert.deepEqual([early.status, early.json.code], [409, 'infeasible']);
    assert.match(early.json.errors[0].detail, /No undo of this order has failed/);
    assert.equal(await stored(), before);
    const { instruct } = await withQuestion();
    assert.equal((await instruct({ kind: 'mark-compensated', reason: 'r' })).json.errors.length, 2);
  });
});
