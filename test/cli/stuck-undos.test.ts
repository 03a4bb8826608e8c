import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import type { Cli } from '#cli/command';
import type { Api } from '#cli/http';
import type { OrderView } from '#cli/orders';
import { watch } from '#cli/watch';
import { type RunningSystem, runningSystem } from './support.ts';

const Refused = fault('AddressInvalid');
const Dispatched = fault('AlreadyDispatched');
const Nothing = z.object({});
const done = operation({ input: Nothing, output: Nothing, run: () => ({}) });
const shop = defineAgent('shop', {
  reserve: done,
  release: done,
  charge: done,
  refund: done,
  ship: done,
  recall: operation({ input: Nothing, output: Nothing, faults: [Dispatched], run: (_, call) => call.failed(Dispatched, 'It has left.') }),
  label: operation({ input: Nothing, output: Nothing, faults: [Refused], run: (_, call) => call.failed(Refused, 'No label.') }),
});
const Order = z.object({ item: z.string(), card: z.string() });
const sell = defineWorkflow('fulfil-order', { version: 1, order: Order, toOperator: [Refused] }, () =>
  sequence(
    shop.reserve({}).undo(() => shop.release({})),
    shop.charge({}).undo(() => shop.refund({})),
    shop.ship({}).undo(() => shop.recall({})),
    shop.label({}),
  ),
);

/** Follows an order of which the API gives these views in turn. */
async function watched(...views: readonly OrderView[]): Promise<{ readonly out: string; readonly err: string }> {
  const said = { out: '', err: '' };
  const terminal = { write: (text: string) => void (said.out += text), say: (line: string) => void (said.err += `${line}\n`) };
  let looks = 0;
  const call = async () => ({ status: 200, etag: '"1"', replayed: false, body: views[looks++] });
  await watch({ terminal, json: false } as unknown as Cli, { url: '', call } as unknown as Api, views[0]?.orderId ?? '');
  return said;
}

describe('F-153: an order whose undo keeps failing, at the command line', () => {
  let system: RunningSystem;
  before(async () => void (system = await runningSystem(defineApp({ workflows: [sell], agents: [shop] }))));
  after(() => system.stop());

  const run = (...args: readonly string[]) => system.redress(args);
  const instruct = async (kind: string, orderId: string, ...more: readonly string[]) => {
    const given = await run('order', kind, orderId, '--reason', 'it has left', ...more);
    assert.equal(given.exitCode, 0, given.err);
    return given;
  };
  /** Returns an order of three effects. The undo of the last of them is stuck. */
  const stuck = async (): Promise<string> => {
    const orderId = await system.order('card');
    await instruct('cancel', orderId, '--yes');
    await system.reaches(orderId, ({ undo, taskId }) => (undo?.stuck ?? []).length > 0 && taskId !== undefined);
    return orderId;
  };

  test('shows the number of remaining undos, the failures of the stuck one, and that its fault is permanent', async () => {
    const orderId = await stuck();
    const { out, err } = await run('order', 'get', orderId);
    assert.match(out, /^why +Canceled: undoes what was done: .*; 2 more to undo /m);
    assert.match(out, /^undo +of order: 0 undone, at order\/ship now, 2 more to undo$/m);
    const pattern = /^stuck +order\/ship failed once: AlreadyDispatched \(It has left\.\); the fault is permanent; next request at \S+Z$/m;
    assert.match(out, pattern);
    assert.match(out, /^undo of ship +shop\.recall +failed once /m);
    assert.match(err, /^To request the failing undo again now: .*\nTo stop the undo: redress order suspend .*\nIf \S+ was undone by/);
  });

  test('shows the time until the next request of the undo while the order is suspended', async () => {
    const orderId = await stuck();
    const check = await run('order', 'suspend', orderId, '--dry-run');
    assert.match(check.out, /The undo of order\/ship would be requested again \d+ \w+ after the order is resumed\.$/m);
    await instruct('suspend', orderId);
    const { out } = await run('order', 'get', orderId);
    assert.match(out, /^next try +of the undo of order\/ship \d+ \w+ after it is resumed$/m);
    assert.doesNotMatch(out, /^time left/m);
  });

  test('is checked before it is resumed: the check names the undos that continue, and the one that is requested again', async () => {
    const orderId = await stuck();
    await instruct('suspend', orderId);
    const check = async () => (await run('order', 'resume', orderId, '--dry-run')).out;
    const all =
      /^The order would send no requests at once\. The undo of order\/ship, which has failed, would be requested again at \S+Z\.\nIts undo would go on: order\/ship, order\/charge, order\/reserve\.$/m;
    assert.match(await check(), all);
    await instruct('mark-compensated', orderId, '--yes');
    assert.match(await check(), /^Its undo would go on: order\/charge, order\/reserve\.$/m);
    assert.doesNotMatch((await run('order', 'get', orderId)).out, /^(time left|next try)/m);
  });

  test('has a history that says how many lines are cut, and shows them whole with --wide and with --json', async () => {
    const orderId = await system.order('card');
    const reason = 'it has left '.repeat(20).trim();
    assert.equal((await run('order', 'cancel', orderId, '--reason', reason, '--yes')).exitCode, 0);
    const history = (...more: readonly string[]) => run('order', 'history', orderId, ...more);
    const cut = await history();
    assert.match(cut.out, /InstructionGiven .*…$/m);
    assert.match(cut.err, /^\d+ lines? cut at "…"\. To see all of it: redress order history \S+ --wide$/m);
    const whole = await history('--wide');
    assert.deepEqual([whole.out.includes(reason), /…/.test(whole.out), whole.err], [true, false, '']);
    assert.equal((await history('--json')).err, '');
  });

  test('shows the time of its fault while it is blocked and, at its end, the steps that a person has marked as undone', async () => {
    const blocked = (await run('order', 'get', await system.order('card'))).out;
    assert.match(blocked, /^fault +AddressInvalid at order\/label \(No label\.\), \d{4}-[\d-]+T[\d:]+Z$/m);
    const orderId = await stuck();
    await instruct('mark-compensated', orderId, '--yes');
    await system.reaches(orderId, ({ processState }) => processState === 'Processed');
    const { out } = await run('order', 'get', orderId);
    assert.match(out, /^undo +2 undone, 1 by hand \(order\/ship\)$/m);
  });

  test('proposes `resume` after a person has marked the undo as done during a suspension, and `watch` shows the undo as done by hand', async () => {
    const orderId = await stuck();
    await instruct('suspend', orderId);
    const marked = await instruct('mark-compensated', orderId, '--yes');
    assert.match(marked.err, /^Accepted\. The order stays suspended\. To let it go on: redress order resume \S+ --reason '…'\n$/);
    const order = await system.reaches(orderId, ({ undo }) => undo.stuck.length === 0);
    const { out, err } = await watched(order, { ...order, suspended: false, processState: 'Processed', outcome: 'canceled' });
    assert.match(out, /^suspended by an operator: nothing is requested[\s\S]*^undo of ship done by hand$[\s\S]*^resumed$/m);
    assert.equal(err, `To let it go on: redress order resume ${orderId} --reason '…'\n`);
  });
});
