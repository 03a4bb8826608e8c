import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { effects, ended, eventually, kindOf, sample, submit } from './support.ts';

/** Runs `npm run deploy:local` with an app, as a user who changes one. */
async function deploy(app: string): Promise<void> {
  const args = ['-C', 'redress-source', 'dev/tools/deploy-local.ts', '-c', `app=${app}`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, said.slice(-2000));
}

/** Posts five orders per second while `work` runs. */
async function whileOrdersCome(work: () => Promise<void>): Promise<readonly string[]> {
  const done = new AbortController();
  const orders: string[] = [];
  const post = async (): Promise<void> => {
    while (!done.signal.aborted) {
      orders.push(await submit(sample('ok')));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const posting = post();
  try {
    await work();
  } finally {
    done.abort();
  }
  await posting;
  return orders;
}

test('X-35: when functions are replaced while orders arrive and run, each order completes and nothing is done twice', async (t) => {
  const before = await submit(sample('ok'));
  await ended(before);
  assert.equal(await kindOf(before), 'notification:shipped');

  const orders = await whileOrdersCome(() => deploy('test/deployed/changed-app.ts'));
  await eventually('the changed agent', async () => {
    const orderId = await submit(sample('ok'));
    await ended(orderId);
    return (await kindOf(orderId)) === 'notification:shipped, 2' ? orderId : undefined;
  });

  let calls = 0;
  for (const orderId of orders) {
    const { processState, outcome, failureCount } = await ended(orderId);
    assert.deepEqual({ processState, outcome }, { processState: 'Processed', outcome: 'completed' }, orderId);
    for (const service of ['inventory', 'payment', 'shipping'])
      assert.equal((await effects(service, orderId)).length, 1, `${orderId} ${service}`);
    calls += failureCount;
  }
  assert.ok(orders.length > 10, `only ${orders.length} orders were under way`);
  t.diagnostic(JSON.stringify({ figure: 'update in place', orders: orders.length, completed: orders.length, stepsRequestedAgain: calls }));
});
