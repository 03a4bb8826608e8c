import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Embedded } from '#adapters/sqlite/open';
import { queueNames, type Request } from '#ports/messages';
import { decodeInstance } from '#roles/scheduler/instance';
import { wholeJournal } from '#roles/scheduler/step-report';
import { type Node, reaches, root, run, site, startNode, until, within, work } from './support.ts';

const isLocked = { name: 'InstanceLockedError' };

/** An order in Error with a feasible operator's instruction. */
async function inError(node: Node, embedded: Embedded): Promise<string> {
  const orderId = await node.call('submit', 'in-error', work({ refuse: true }), 'line');
  await reaches(embedded, orderId, 'Error');
  return orderId;
}

test('F-24: while an old host drains, a new one works, but with NoRetry its instruction to an order that the old host holds fails at once', async (t) => {
  const { variables, open, effects } = site(t);
  const old = await startNode(t, variables);
  const embedded = open();
  const orderId = await inError(old, embedded);
  await old.call('hold', orderId, 900);
  await old.call('submit', 'at-work', work({ ms: 3000 }), 'line');
  await until('the old host is in mid-step', () =>
    effects().some((line) => line.endsWith(`order/one/1 ${old.pid}`) && line.startsWith('begin') && !line.includes(orderId)),
  );
  old.child.kill('SIGTERM');

  const next = await startNode(t, variables);
  const fresh = await next.call('submit', 'fresh', work(), 'line');
  await reaches(embedded, fresh, 'Processed');
  for (let look = 0; look < 10 && old.child.exitCode === null; look++) {
    await assert.rejects(next.call('resubmit', orderId), isLocked);
    assert.equal((await embedded.store.head(orderId))?.heldBy !== null, true);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.deepEqual(await within(old.ended, 'the old host does not end'), { code: 0, signal: null });
  assert.equal((await embedded.store.head(orderId))?.heldBy, null);
  assert.equal((await next.call('resubmit', orderId)).outcome, 'done');
});

for (const policy of ['BasicRetry', 'AggressiveRetry']) {
  test(`F-20, F-24: with ${policy} the new host's instruction waits for the end of the drain, and then succeeds`, async (t) => {
    const { variables, open, effects } = site(t);
    const old = await startNode(t, variables);
    const orderId = await inError(old, open());
    await old.call('hold', orderId, 900);
    await old.call('submit', 'at-work', work({ ms: 1500 }), 'line');
    await until('the old host is in mid-step', () => effects().filter((line) => line.startsWith('begin')).length === 2);
    const next = await startNode(t, { ...variables, INSTANCE_LOCKED_ACTION: policy });
    old.child.kill('SIGTERM');
    const { outcome, attempts = 0 } = await next.call('resubmit', orderId);
    assert.equal(outcome, 'done');
    assert.ok(attempts > 1);
    assert.deepEqual(await within(old.ended, 'the old host does not end'), { code: 0, signal: null });
  });
}

test('F-22, F-25: a killed node keeps its lease only until it expires; then the next node acquires it, and the order ends', async (t) => {
  const { variables, open } = site(t);
  const embedded = open();
  const owner = await startNode(t, { ...variables, STEP_COMPLETE_WITHIN_SECONDS: '1', SUPERVISOR_PERIOD_SECONDS: '0.2' });
  const orderId = await owner.call('submit', 'owned', work({ ms: 5000 }), 'line');
  await owner.call('hold', orderId, 6000);
  await owner.kill('SIGKILL');

  const next = await startNode(t, {
    ...variables,
    STEP_COMPLETE_WITHIN_SECONDS: '1',
    SUPERVISOR_PERIOD_SECONDS: '0.2',
    WITHOUT: 'agent-first',
  });
  const { heldBy, heldUntil } = (await embedded.store.head(orderId)) ?? assert.fail('the order is gone');
  for (let tries = 0; ; tries++) {
    const at = Date.now();
    const error = await next.call('hold', orderId, 1000).then(
      () => undefined,
      (refusal: Error) => refusal,
    );
    if (!error) {
      assert.ok(tries > 0 && Date.now() >= (heldUntil ?? Infinity), 'the lease was not free before it expired');
      break;
    }
    assert.deepEqual({ ...error }, { ...isLocked, orderId, heldUntil });
    assert.ok(!error.message.includes(heldBy ?? ''), 'the error does not name the holder');
    assert.ok(at < (heldUntil ?? 0), 'the lease did not last longer');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await next.call('release', orderId);
  await answerFirst(next, embedded);
  assert.equal((await reaches(embedded, orderId, 'Processed')).outcome, 'completed');
});

/** Answers the newest request of the first step in place of the agent. */
async function answerFirst(node: Node, embedded: Embedded): Promise<void> {
  await until('the step is asked again', async () => {
    const request = requests(embedded, 'first').at(-1);
    if (!request || Date.parse(request.completeBy) < Date.now() + 300) return false;
    await node.call('accept', queueNames.replies('first'), replyTo(request));
    return true;
  });
}

const requests = ({ database }: Embedded, agent: string): readonly Request[] =>
  database
    .prepare('SELECT body FROM messages WHERE queue = ? ORDER BY id')
    .all(queueNames.requests(agent))
    .map((row) => JSON.parse((row as { body: string }).body) as Request);

function replyTo({ requestId, orderId, path, attempt, epoch }: Request): string {
  return JSON.stringify({
    v: 1,
    type: 'reply',
    requestId,
    orderId,
    path,
    attempt,
    epoch,
    sentAt: new Date().toISOString(),
    result: { status: 'succeeded', output: {} },
  });
}

test('F-26, F-27: a second message for an instance that another node holds waits until the lease is released, and gets the new state', async (t) => {
  const { variables, open } = site(t);
  const embedded = open();
  const agents = 'agent-first,agent-second';
  const one = await startNode(t, { ...variables, WITHOUT: `${agents},scheduler` });
  const two = await startNode(t, { ...variables, WITHOUT: agents });
  const orderId = await one.call('submit', 'two-messages', work(), 'pair');
  const [first, second] = [requests(embedded, 'first')[0], requests(embedded, 'second')[0]] as [Request, Request];

  await one.call('hold', orderId, 1500);
  await two.call('accept', queueNames.replies('second'), replyTo(second));
  await one.call('accept', queueNames.replies('first'), replyTo(first));
  const { state } = (await embedded.store.load(orderId)) ?? assert.fail('the order is gone');
  assert.deepEqual(Object.keys(decodeInstance(state).state.activities), ['order', 'order/two']);
  await one.call('release', orderId);
  assert.partialDeepStrictEqual(await embedded.store.head(orderId), { heldBy: null, heldUntil: null });

  const end = await reaches(embedded, orderId, 'Processed');
  assert.equal(end.failureCount, 0);
  const closed = wholeJournal(await embedded.store.pages(orderId), decodeInstance(end).tail).flatMap((entry) =>
    entry.type === 'ActivityClosed' ? [entry.path] : [],
  );
  assert.deepEqual(closed, ['order/one', 'order/two', 'order']);
});

test('two hosts on one data folder get the same 300 orders, work on some of them each, and each effect exists once', async (t) => {
  const { variables, open, effects } = site(t);
  const nodes = await Promise.all([startNode(t, variables), startNode(t, variables)]);
  const embedded = open();
  const keys = Array.from({ length: 300 }, (_, index) => `order-${index}`);
  const answers = await Promise.all(nodes.map((node) => Promise.all(keys.map((key) => node.call('submit', key, work(), 'line')))));
  assert.deepEqual(answers[0], answers[1]);
  const orderIds = answers[0] ?? [];
  assert.equal(new Set(orderIds).size, 300);

  const ends = await Promise.all(orderIds.map((orderId) => reaches(embedded, orderId, 'Processed')));
  assert.deepEqual(new Set(ends.map(({ outcome, failureCount }) => `${outcome} ${failureCount}`)), new Set(['completed 0']));
  const done = effects()
    .filter((line) => line.startsWith('done'))
    .map((line) => line.split(' '));
  assert.deepEqual(done.map(([, key]) => key).toSorted(), orderIds.flatMap((id) => [`${id}/order/one/1`, `${id}/order/two/1`]).toSorted());
  assert.equal(new Set(done.map(([, , pid]) => pid)).size, 2);
  await Promise.all(nodes.map((node) => node.kill('SIGTERM')));
});

test('hosts that start at the same moment on a new folder all start and share the folder', async (t) => {
  const { variables } = site(t);
  const starting = Array.from({ length: 4 }, () => run(t, `${root}test/processes/node.ts`, variables));
  await Promise.all(starting.map((each) => within(each.line(/^ready$/m), 'it does not come up')));
  const ends = await Promise.all(starting.map((each) => each.kill('SIGTERM')));
  assert.deepEqual(new Set(ends.map(({ code }) => code)), new Set([0]));
});
