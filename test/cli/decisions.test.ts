import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { askOperator, defineAgent, defineApp, defineWorkflow, fault, operation, sequence, waitFor } from 'redress';
import * as z from 'zod';
import { type RunningSystem, redress, runningSystem } from './support.ts';

const nothing = z.object({});
const Closed = fault('AccountClosed');
const till = defineAgent('till', {
  charge: operation({ input: nothing, output: z.object({ id: z.string() }), run: () => ({ id: 'c-1' }) }),
  refund: operation({
    input: z.object({ id: z.string() }),
    output: nothing,
    faults: [Closed],
    run: (_, call) => call.failed(Closed, 'The account is closed.'),
  }),
  tell: operation({ input: nothing, output: nothing, run: () => ({}) }),
});
const travel = defineWorkflow('fulfil-order', { version: 1, order: z.object({ item: z.string(), card: z.string() }) }, () =>
  sequence(
    till.charge({}).undo(({ id }) => till.refund({ id })),
    till.tell({}),
    waitFor('visa', z.strictObject({ granted: z.boolean() })),
    askOperator('price', { question: 'What is the price?', answer: z.number() }),
  ),
);

describe('instructions at the command line', () => {
  let system: RunningSystem;
  before(async () => void (system = await runningSystem(defineApp({ workflows: [travel], agents: [till] }))));
  after(() => system.stop());

  const submitted = async (): Promise<string> => {
    const { json } = await system.redress(['order', 'submit', '-', '--json'], { input: JSON.stringify({ item: 'tea', card: 'c' }) });
    return json.orderId;
  };
  const state = async (orderId: string) => (await system.redress(['order', 'get', orderId, '--json'])).json;

  test('F-160: a rebuild without damage is refused, and its dry run compares the order with its journal', async () => {
    const orderId = await submitted();
    await system.reaches(orderId, ({ steps }) => steps[1].result === 'Succeeded');
    const looked = await system.redress(['order', 'rebuild', orderId, '--reason', 'a look', '--dry-run']);
    assert.match(looked.out, /has \d+ journal lines\. The state can be read\. The journal tells the state\. Nothing was changed\./);
    const refused = await system.redress(['order', 'rebuild', orderId, '--reason', 'a look']);
    assert.deepEqual([refused.exitCode, refused.err.includes('there is nothing to rebuild')], [1, true], refused.err);
  });

  test('a signal is given as an argument or in a file, and sent once per key; then a question is answered', async () => {
    const orderId = await submitted();
    const file = join(system.folder, 'visa.json');
    writeFileSync(file, '{"granted": true}');
    const first = await system.redress(['order', 'signal', orderId, 'visa', '--data', `@${file}`, '--key', 'one']);
    assert.deepEqual([first.exitCode, first.err.includes('Accepted')], [0, true], first.err);
    const again = await system.redress(['order', 'signal', orderId, 'visa', '--data', '{"granted": true}', '--key', 'one']);
    assert.match(again.err, /used before/);

    const blocked = await system.reaches(orderId, ({ processState }) => processState === 'Error');
    assert.equal(blocked.fault.type, 'OperatorAsked');
    assert.match((await system.redress(['order', 'get', orderId])).out, /What is the price\?/);
    const wrong = await system.redress(['order', 'answer', orderId, '--data', '"seven"']);
    assert.deepEqual([wrong.exitCode, /\/answer/.test(wrong.err)], [1, true], wrong.err);
    assert.equal((await system.redress(['order', 'answer', orderId, '--data', '@-'], { input: '7' })).exitCode, 0);
    assert.equal((await system.reaches(orderId, ({ processState }) => processState === 'Processed')).outcome, 'completed');
    assert.equal((await system.redress(['order', 'signal', orderId, 'visa', '--data', '{"granted": true}'])).exitCode, 1);
  });

  test('a dry run suspends no order; then a suspended order keeps a signal, and accepts it after it is resumed', async () => {
    const orderId = await submitted();
    await system.reaches(orderId, ({ steps }) => steps[1].status === 'Closed');
    const turn = (kind: string, ...more: readonly string[]) =>
      system.redress(['order', kind, orderId, '--reason', 'the visas are counted', ...more]);
    assert.match((await turn('suspend', '--dry-run')).out, /would send no requests/);
    assert.equal((await state(orderId)).suspended, false);
    const { exitCode, err } = await turn('suspend');
    assert.deepEqual([exitCode, /Accepted/.test(err)], [0, true], err);
    const { out } = await system.redress(['order', 'get', orderId]);
    assert.match(out, /^state +Processing, suspended$/m);
    assert.match(out, /why +Suspended by an operator/);
    assert.equal((await turn('suspend')).exitCode, 1);
    await system.redress(['order', 'signal', orderId, 'visa', '--data', '{"granted": true}']);
    assert.equal((await state(orderId)).processState, 'Processing');
    assert.equal((await turn('resume')).exitCode, 0);
    assert.equal((await system.reaches(orderId, ({ processState }) => processState === 'Error')).fault.type, 'OperatorAsked');
  });

  test('a skip shows its check, requires a confirmation, and closes the question with the given answer', async () => {
    const orderId = await submitted();
    await system.redress(['order', 'signal', orderId, 'visa', '--data', '{"granted": true}']);
    await system.reaches(orderId, ({ processState }) => processState === 'Error');
    const skip = (...more: readonly string[]) => system.redress(['order', 'skip', orderId, '--reason', 'known', ...more]);
    const refused = await skip('--data', '"seven"', '--dry-run');
    assert.deepEqual([refused.exitCode, /output-invalid/.test(refused.out)], [1, true], refused.out);
    assert.match((await skip('--data', '7', '--dry-run')).out, /skipped +order\/price/);
    assert.equal((await skip('--data', '7')).exitCode, 2);
    assert.deepEqual((await skip('--data', '7', '--yes', '--json')).json.orderId, orderId);
    assert.equal((await system.reaches(orderId, ({ processState }) => processState === 'Processed')).outcome, 'completed');
  });

  test('an operator sees the plan of an undo first, and marks an undo that keeps failing as done', async () => {
    const orderId = await submitted();
    await system.reaches(orderId, ({ steps }) => steps[1].status === 'Closed');
    const { out } = await system.redress(['order', 'plan', orderId]);
    assert.match(out, /^would be undone +by +with\norder\/charge +till\.refund +\{"id":"c-1"\}/);
    assert.match(out, /Steps without an undo, which would stay as they are: order\/tell\./);
    assert.deepEqual((await system.redress(['order', 'plan', orderId, '--json'])).json.steps.length, 1);
    assert.equal((await system.redress(['order', 'plan', orderId, '--undo', 'nowhere'])).exitCode, 1);
    const dependents = await system.redress(['order', 'dependents', orderId, 'charge']);
    assert.match(dependents.out, /order\/tell +(data, )?control[\s\S]*No other order has used what it wrote/);
    assert.equal((await system.redress(['order', 'dependents', orderId, 'nowhere'])).exitCode, 1);

    assert.equal((await system.redress(['order', 'cancel', orderId, '--reason', 'too late', '--yes'])).exitCode, 0);
    const alerts = async () => (await system.redress(['alerts'])).out;
    for (let tries = 0; !/Compensation Stuck/.test(await alerts()); tries++) {
      assert.ok(tries < 200, await alerts());
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const shown = await system.redress(['order', 'get', orderId]);
    assert.match(
      shown.out,
      /^undo +of order: 0 undone, at order\/charge now$[\s\S]*^stuck +order\/charge failed (once|\d+ times).*: AccountClosed \(.*\); the fault is permanent/m,
    );
    assert.match(
      shown.err,
      /To stop the undo: redress order suspend \S+ --reason '…' --dry-run\nIf \S+ was undone by hand: redress order mark-compensated/,
    );
    const turn = (kind: string) => system.redress(['order', kind, orderId, '--reason', 'the account is looked at']);
    assert.equal((await turn('suspend')).exitCode, 0);
    const stopped = await system.redress(['order', 'get', orderId]);
    assert.match(stopped.out, /^undo .*nothing is requested until somebody resumes the order$/m);
    assert.doesNotMatch(stopped.out, /next request at/);
    assert.match(stopped.out, /^undo of charge +till\.refund +(failed once|keeps failing)/m);
    assert.match((await system.redress(['order', 'mark-compensated', orderId, '--dry-run'])).out, /undo goes on when somebody resumes/);
    assert.match(
      stopped.err,
      /^To let it go on: redress order resume \S+ --reason '…' --dry-run\nIf \S+ was undone by hand: redress order mark-comp/,
    );
    assert.doesNotMatch(stopped.err, /retry-undo/);
    const marked = ['order', 'mark-compensated', orderId, '--reason', 'refunded by hand', '--yes'];
    assert.equal((await system.redress([...marked, '--path', 'order/tell'])).exitCode, 1);
    assert.equal((await system.redress(marked)).exitCode, 0);
    const waiting = await system.redress(['order', 'get', orderId]);
    assert.match(waiting.out, /^undo +of order: 1 undone, 0 left/m);
    assert.match(waiting.out, /^undo of charge +till\.refund +done by hand/m);
    assert.doesNotMatch(waiting.out, /^task /m);
    assert.match(waiting.err, /^To let it go on: redress order resume \S+ --reason '…' --dry-run\n$/);
    const rebuild = async () => (await system.redress(['order', 'rebuild', orderId, '--reason', 'a look', '--dry-run'])).out;
    assert.match(await rebuild(), /The journal tells the state\./);
    assert.equal((await turn('resume')).exitCode, 0);
    assert.equal((await system.reaches(orderId, ({ processState }) => processState === 'Processed')).outcome, 'canceled');
    assert.match(await rebuild(), /The journal tells the state\./);
  });
});

test('invalid arguments are usage errors', async () => {
  for (const args of [
    ['order', 'answer', 'abc'],
    ['order', 'answer', 'abc', '--data', '{half'],
    ['order', 'signal', 'abc'],
    ['order', 'signal', 'abc', 'visa', '--data', '@/no/such/file.json'],
    ['order', 'mark-compensated', 'abc'],
    ['order', 'plan'],
    ['order', 'skip', 'abc', '--reason', 'r', '--effect', 'half'],
    ['order', 'replace-input', 'abc', '--reason', 'r'],
    ['order', 'amend', 'abc', '--reason', 'r', '--set', 'total'],
  ]) {
    const { exitCode, err } = await redress(args);
    assert.equal(exitCode, 2, args.join(' '));
    assert.notEqual(err, '');
  }
});
