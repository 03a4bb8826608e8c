import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import { startApi } from './support.ts';

const Lot = z.object({ lot: z.string() });
const worker = defineAgent('worker', {
  book: operation({ input: Lot, output: z.object({ shelf: z.number() }), writes: ['lot/{lot}'], run: () => ({ shelf: 7 }) }),
  unbook: operation({ input: Lot, output: z.object({}), run: () => ({}) }),
  label: operation({ input: z.object({ shelf: z.number() }), output: z.object({}), run: () => ({}) }),
  reserve: operation({ input: Lot, output: z.object({}), reads: ['lot/{lot}'], run: () => ({}) }),
});
const Order = z.object({ lot: z.string() });
/** Books goods, and labels their shelf beside a step that does not need it. */
const receive = defineWorkflow('receive', { version: 1, order: Order }, ({ order }) => {
  const book = worker.book({ lot: order.lot }).undo(() => worker.unbook({ lot: order.lot }));
  const beside = worker.reserve({ lot: 'other' }).noUndo();
  return sequence(book, parallel(worker.label({ shelf: book.output.shelf }).noUndo(), beside).named('after'));
});
const take = defineWorkflow('take', { version: 1, order: Order }, ({ order }) =>
  sequence(worker.reserve({ lot: order.lot }).undo(() => worker.unbook({ lot: order.lot }))),
);
const app = defineApp({ workflows: [receive, take], agents: [worker] });

async function warehouse() {
  const system = startApi({ app });
  const { submitOrder, answer, clock, ask, queues } = system;
  const done = async (key: string, workflow: string, lot: string, outputs: readonly object[]): Promise<string> => {
    const orderId = await submitOrder(key, { body: { workflow, order: { lot } } });
    for (const output of outputs) {
      await clock.advance(10);
      await answer('worker', { status: 'succeeded', output: output as never });
    }
    return orderId;
  };
  /** Takes requests off the queue of the agent, which answers them later. */
  const drop = (max: number) => queues.receive('worker-requests', { max, visibilityMs: 3_600_000, waitMs: 0 });
  const receipt = await done('a', 'receive', '4711', [{ shelf: 7 }]);
  const dependents = (path?: string) =>
    ask('GET', `/orders/${receipt}/dependents${path === undefined ? '' : `?path=${encodeURIComponent(path)}`}`, { as: 'operator' });
  return { ...system, done, drop, receipt, dependents };
}

test('F-146, F-147, F-151: GET /orders/{id}/dependents shows what depends on a step by data and by control, and which orders consumed its writes', async () => {
  const { dependents, receipt } = await warehouse();
  const { json } = await dependents('order/book');
  assert.deepEqual(json, {
    orderId: receipt,
    path: 'order/book',
    data: ['order/after/label'],
    control: ['order/after', 'order/after/label', 'order/after/reserve'],
    scope: ['order/book', 'order/after', 'order/after/label', 'order/after/reserve'],
    consumers: [],
    more: false,
  });
  assert.deepEqual((await dependents('book')).json, json);
  assert.deepEqual((await dependents('order/after/label')).json.scope, ['order/after/label']);
});

test('F-151: orders that reserve from a lot are consumers of its receipt until that is undone; an order of another lot is not a consumer', async () => {
  const { dependents, receipt, done, drop, ask, answer, clock, scheduler } = await warehouse();
  const open = await drop(2);
  const [b, c] = [await done('b', 'take', '4711', [{}]), await done('c', 'take', '4711', [{}])];
  await done('d', 'take', '4712', [{}]);
  const taken = [b, c].map((orderId) => ({ orderId, path: 'order/reserve', object: 'lot/4711' }));
  assert.deepEqual((await dependents('order/book')).json.consumers, taken);
  assert.deepEqual((await dependents()).json.consumers, taken, 'the whole order wrote what its steps did');
  assert.deepEqual((await dependents('order/after')).json.consumers, []);

  await clock.advance(10);
  assert.equal((await ask('POST', `/orders/${receipt}/cancel`, { as: 'operator', body: { reason: 'the papers are wrong' } })).status, 202);
  await drop(2);
  const requests = open.map(({ body }) => JSON.parse(body) as { readonly requestId: string });
  for (const { requestId } of requests) {
    const reply = { status: 'succeeded', output: {} } as const;
    await scheduler.accept(receipt, [{ id: requestId, type: 'reply', requestId, agent: 'worker', sentAt: clock.now(), reply }], []);
  }
  await answer('worker', { status: 'succeeded', output: {} });
  await clock.advance(10);
  await done('e', 'take', '4711', [{}]);
  assert.deepEqual((await dependents('order/book')).json.consumers, taken);
});

test('F-148, F-151: the dry run of a recovery lists its scope, its undos and the consumers by name, and changes nothing', async () => {
  const { ask, receipt, done, drop } = await warehouse();
  await drop(2);
  const b = await done('b', 'take', '4711', [{}]);
  await done('d', 'take', '4712', [{}]);
  const before = (await ask('GET', `/orders/${receipt}`, { as: 'operator' })).json.rev;
  const body = { kind: 'recover', path: 'order/book', reason: 'the papers are wrong', dryRun: true };
  const { status, json } = await ask('POST', `/orders/${receipt}/instructions`, { as: 'operator', body });
  assert.equal(status, 200);
  assert.deepEqual(json.recovery, {
    scope: ['order/book', 'order/after', 'order/after/label', 'order/after/reserve'],
    consumers: [{ orderId: b, path: 'order/reserve', object: 'lot/4711' }],
    more: false,
  });
  assert.deepEqual(json.effects.undoes, [{ path: 'order/book', operation: 'unbook' }]);
  assert.equal((await ask('GET', `/orders/${receipt}`, { as: 'operator' })).json.rev, before);
});

test('a request for an unknown activity is refused with the form that is expected, and a request of a client is forbidden', async () => {
  const { dependents, ask, receipt } = await warehouse();
  const { status, json } = await dependents('order/nowhere');
  assert.deepEqual([status, json.errors[0].pointer], [400, '/path']);
  assert.match(json.errors[0].detail, /expected the path of an activity of the workflow, such as order\/charge/);
  assert.equal((await dependents('order/book/undo')).status, 400);
  assert.equal((await ask('GET', `/orders/${receipt}/dependents`, { as: 'acme' })).status, 403);
});

test('F-149: operators see how many faults a recovery has masked, and the newest of them; a client does not', async () => {
  const { ask, receipt, drop, clock, scheduler } = await warehouse();
  const [open] = await drop(2);
  const body = { kind: 'recover', path: 'order/book', reason: 'the papers are wrong' };
  const read = (as: 'operator' | 'acme' = 'operator') => ask('GET', `/orders/${receipt}`, { as });
  const etag = (await read()).headers.get('etag') ?? '';
  assert.equal('maskedFaults' in (await read()).json, false);
  assert.equal((await ask('POST', `/orders/${receipt}/instructions`, { as: 'operator', body, headers: { 'if-match': etag } })).status, 202);
  const { requestId } = JSON.parse(open?.body ?? '') as { readonly requestId: string };
  const fault = { type: 'ShelfFell', class: 'expected', message: 'no shelf', permanent: true } as const;
  const reply = { status: 'failed', fault } as const;
  await scheduler.accept(receipt, [{ id: requestId, type: 'reply', requestId, agent: 'worker', sentAt: clock.now(), reply }], []);
  const inconsistency = { cause: { orderId: 'ord_other', path: 'order/book' } };
  for (let count = 0; count < 12; count++) {
    const uses = [{ path: 'order/after/reserve', object: `lot/${count}` }];
    await scheduler.accept(
      receipt,
      [{ id: `u${count}`, type: 'inconsistent', inconsistency: { ...inconsistency, id: `u${count}`, uses } }],
      [],
    );
  }
  const { maskedFaults } = (await read()).json;
  assert.deepEqual([maskedFaults.count, maskedFaults.newest.length], [13, 10]);
  assert.deepEqual(maskedFaults.newest[0], {
    at: new Date(clock.now()).toISOString(),
    path: 'order/after/reserve',
    type: 'Inconsistent',
    message: 'order/book of ord_other has been undone, after this order had read lot/11.',
    maskedBy: 'order/book',
  });
  assert.equal('maskedFaults' in (await read('acme')).json, false);
});
