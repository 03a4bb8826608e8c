import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, sequence, waitFor } from 'redress';
import * as z from 'zod';
import { until } from '../support/until.ts';
import { type RunningSystem, runningSystem } from './support.ts';

const Lot = z.object({ lot: z.string() });
const none = z.object({});
const run = () => ({});
const worker = defineAgent('worker', {
  book: operation({ input: Lot, output: none, writes: ['lot/{lot}'], run }),
  unbook: operation({ input: Lot, output: none, run }),
  reserve: operation({ input: Lot, output: none, reads: ['lot/{lot}'], run }),
  release: operation({ input: Lot, output: none, run }),
});
const receive = defineWorkflow('receive', { version: 1, order: Lot }, ({ order }) =>
  sequence(
    worker.book({ lot: order.lot }).undo(() => worker.unbook({ lot: order.lot })),
    waitFor('papers', none),
  ),
);
const sell = defineWorkflow('sell', { version: 1, order: Lot }, ({ order }) =>
  sequence(worker.reserve({ lot: order.lot }).undo(() => worker.release({ lot: order.lot }))),
);
const Handled = z.looseObject({ order: Lot });
const fetchBack = defineWorkflow('fetch-back', { version: 1, order: Handled }, ({ order }) =>
  sequence(worker.release({ lot: order.order.lot }).noUndo()),
);

describe('a finished order that has read an undone write, at the command line', () => {
  let system: RunningSystem;
  let sales: readonly string[] = [];

  const submit = async (workflow: string, lot: string): Promise<string> =>
    (await system.redress(['order', 'submit', '-', '--json'], { input: JSON.stringify({ workflow, order: { lot } }) })).json.orderId;
  const orderOf = async (id: string) => (await system.redress(['order', 'get', id, '--json'])).json;
  const taskOf = async (id: string) => (await system.redress(['task', 'show', id])).out;

  before(async () => {
    system = await runningSystem(defineApp({ workflows: [receive, sell, fetchBack], agents: [worker] }));
    const receipt = await submit('receive', '4711');
    await system.reaches(receipt, ({ waitsFor }) => waitsFor?.kind === 'signal');
    sales = [await submit('sell', '4711'), await submit('sell', '4711')];
    for (const sale of sales) await system.redress(['order', 'watch', sale]);
    const { exitCode, err } = await system.redress(['order', 'recover', receipt, '--reason', 'wrong papers', '--yes']);
    assert.equal(exitCode, 0, err);
    for (const sale of sales) await system.reaches(sale, ({ taskId }) => taskId !== undefined);
  });
  after(() => system.stop());

  test('F-152: has an exception that another workflow handles, and its task says whether that helped', async () => {
    const [sale = ''] = sales;
    const refused = await system.redress(['order', 'handle', sale, '--workflow', 'nobody', '--reason', 'r', '--dry-run']);
    assert.equal(refused.exitCode, 1);
    assert.match(refused.out, /The app has no workflow "nobody"/);
    const fields = JSON.stringify({ workflow: 'fetch-back' });
    const resolve = ['task', 'resolve', sale, 'handle', '--fields', fields];
    assert.equal((await system.redress([...resolve, '--dry-run'])).exitCode, 0);
    const given = await system.redress([...resolve, '--reason', 'the goods come back', '--yes']);
    assert.equal(given.exitCode, 0, given.err);
    await until(
      () => taskOf(sale),
      (out) => /passed/.test(out),
    );
    const { outcome, lastInstruction } = await orderOf(sale);
    assert.deepEqual([outcome, lastInstruction.verified], ['completed', 'passed']);
  });

  test('F-152: is restarted as another order although its effects stay, if a person accepts that', async () => {
    const [, sale = ''] = sales;
    const data = ['--data', '{"lot": "4712"}', '--reason', 'the same goods'];
    const refused = await system.redress(['order', 'restart', sale, ...data, '--dry-run']);
    assert.equal(refused.exitCode, 1);
    assert.match(refused.out, /The effect of order\/reserve stays/);
    const given = await system.redress(['order', 'restart', sale, ...data, '--keep-effects', '--yes']);
    assert.equal(given.exitCode, 0, given.err);
    const { outcome, restartedAs } = await orderOf(sale);
    assert.equal(outcome, 'completed');
    await until(
      async () => (await system.redress(['order', 'get', restartedAs])).out,
      (out) => new RegExp(`completed[\\s\\S]*restart of +${sale}`).test(out),
    );
    assert.match(await taskOf(sale), /passed/);
  });
});
