import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asked, call, ended, eventually, orderOf, sampleIn, submit } from '../support.ts';

interface Task {
  readonly id: string;
  readonly kind: string;
  readonly exceptionId: string;
}

const tasksOf = async (orderId: string): Promise<readonly Task[]> =>
  (await asked<{ items: readonly Task[] }>('GET', `/tasks?orderId=${orderId}`)).items;

/** Waits for the task that the order is to have, and returns it. */
const taskOf = (orderId: string, kind: string): Promise<Task> =>
  eventually(`the task ${kind} of ${orderId}`, async () => (await tasksOf(orderId)).find((task) => task.kind === kind));

/** Waits until a step of the order has the status. */
const step = (orderId: string, wanted: string, status: string): Promise<true> =>
  eventually(`${wanted} ${status}`, async () => {
    const { steps } = await orderOf(orderId);
    return steps.some((each) => each.name === wanted && each.status === status) || undefined;
  });

const signal = (orderId: string, name: string, body: object): Promise<unknown> => asked('POST', `/orders/${orderId}/signals/${name}`, body);

test('F-151, F-152: after the undo of a receipt of goods, its two sales each get one message, and the sale of another lot gets none', async () => {
  const receipts = await Promise.all(['lot-4711', 'lot-4712'].map((name) => submit(sampleIn(`goods-receipt/samples/${name}.json`))));
  for (const receipt of receipts) await step(receipt, 'book', 'Closed');
  const [a = ''] = receipts;
  const [b = '', c = '', d = ''] = await Promise.all(['b', 'c', 'd'].map((name) => submit(sampleIn(`goods-receipt/sales/${name}.json`))));
  assert.partialDeepStrictEqual(await ended(b), { processState: 'Processed', outcome: 'completed' });
  for (const waiting of [c, d]) await step(waiting, 'reserve', 'Closed');

  await signal(a, 'papers', { correct: false });
  const { id, exceptionId } = await taskOf(a, 'fault');
  const etag = (await call('GET', `/orders/${a}`, { role: 'operator' })).headers.get('etag') ?? '';
  const resolution = { instruction: { kind: 'recover' }, reason: 'The papers are wrong.' };
  await asked('POST', `/tasks/${id}/resolve`, resolution, { 'if-match': etag });
  await eventually('the end of the receipt', async () => ((await orderOf(a)).outcome === 'compensated' ? true : undefined));

  const ofB = await taskOf(b, 'inconsistency');
  assert.partialDeepStrictEqual(await ended(c), { processState: 'Error', fault: { type: 'Inconsistent' } });
  const ofC = await taskOf(c, 'inconsistency');
  for (const each of [ofB, ofC]) {
    const { data, handledBy: _, ...exception } = await asked<Exception>('GET', `/exceptions/${each.exceptionId}`);
    assert.partialDeepStrictEqual(exception, { type: 'Inconsistent', causedBy: exceptionId });
    assert.deepEqual(data.uses, [{ path: 'order/reserve', object: 'lot/4711' }]);
  }
  assert.partialDeepStrictEqual(await orderOf(b), { processState: 'Processed', outcome: 'completed' });
  // D has got no message, and goes on.
  await signal(d, 'collected', {});
  assert.partialDeepStrictEqual(await ended(d), { processState: 'Processed', outcome: 'completed', fault: null });
  assert.deepEqual([await tasksOf(d), (await tasksOf(b)).length, (await tasksOf(c)).length], [[], 1, 1]);
});

interface Exception {
  readonly type: string;
  readonly causedBy: string;
  readonly data: { readonly uses: readonly object[] };
  readonly handledBy?: unknown;
}
