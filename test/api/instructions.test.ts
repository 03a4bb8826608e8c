import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acquireLease } from '#roles/scheduler/lease';
import { startApi } from './support.ts';

const resubmit = { kind: 'resubmit', reason: 'the bank says it works now' };

async function withOrderInError() {
  const system = startApi();
  const orderId = await system.orderInError('k');
  const instruct = (body: unknown, ifMatch?: string, id = orderId) =>
    system.ask('POST', `/orders/${id}/instructions`, {
      as: 'operator',
      headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
      body,
    });
  const head = async () => {
    const found = await system.store.head(orderId);
    assert.ok(found);
    return found;
  };
  return { ...system, orderId, instruct, head };
}

test('F-60: when an operator resubmits the failed step, only that step is requested again, and the order continues', async () => {
  const { instruct, ask, answer, orderId, head } = await withOrderInError();
  const { status, json, headers } = await instruct(resubmit, `"${(await head()).rev}"`);
  assert.deepEqual([status, json], [202, { orderId, rev: (await head()).rev, processState: 'Processing' }]);
  assert.deepEqual([headers.get('etag'), headers.get('location')], [`"${json.rev}"`, `/orders/${orderId}`]);
  await answer('payment', { status: 'succeeded', output: { chargeId: 'c', token: 't' } });
  for (const _ of ['ship', 'tell']) await answer('shipping', { status: 'succeeded', output: {} });
  const order = (await ask('GET', `/orders/${orderId}`, { as: 'operator' })).json;
  assert.deepEqual(
    [order.processState, order.outcome, order.steps.map(({ attempts }: { attempts: number }) => attempts)],
    ['Processed', 'completed', [1, 2, 1, 1]],
  );

  const late = await instruct(resubmit, `"${(await head()).rev}"`);
  assert.deepEqual([late.status, late.json.code, late.json.errors.length], [409, 'infeasible', 1]);
});

test('the dry run of an instruction shows the plan and changes nothing', async () => {
  const { instruct, orderId, stored } = await withOrderInError();
  const before = await stored();
  const { status, json } = await instruct({ ...resubmit, dryRun: true });
  assert.equal(status, 200);
  assert.deepEqual([json.orderId, json.processState, json.requests.length], [orderId, 'Processing', 1]);
  assert.deepEqual([json.requests[0].path, json.requests[0].agent, json.requests[0].attempt], ['order/charge', 'payment', 2]);
  assert.equal((await instruct({ ...resubmit, dryRun: true }, '"1"')).status, 412);
  assert.equal(await stored(), before);
});

test('a malformed instruction is refused and changes nothing', async () => {
  const { instruct, stored, head } = await withOrderInError();
  const before = await stored();
  const current = `"${(await head()).rev}"`;
  const wrong: readonly [unknown, string | undefined, number, string, string?][] = [
    [resubmit, undefined, 428, 'precondition-required'],
    [{ ...resubmit, dryRun: false }, undefined, 428, 'precondition-required'],
    ...['*', `W/${current}`, '1', '"x"', '""', '"1", "2"', '"-1"', '"01"', '"1e1"', '"99999999999999999999"'].map(
      (ifMatch): [unknown, string, number, string, string] => [resubmit, ifMatch, 400, 'bad-parameter', '/if-match'],
    ),
    [resubmit, '"1"', 412, 'stale'],
    [resubmit, '"999"', 412, 'stale'],
    [{ kind: 'resubmit' }, current, 422, 'invalid', '/reason'],
    [{ ...resubmit, reason: '' }, current, 422, 'invalid', '/reason'],
    [{ ...resubmit, reason: ' \n' }, current, 422, 'invalid', '/reason'],
    [{ ...resubmit, reason: 'r'.repeat(1025) }, current, 422, 'invalid', '/reason'],
    [{ ...resubmit, kind: 'explode' }, current, 422, 'invalid', '/kind'],
    [{ ...resubmit, dryRun: 'yes' }, current, 422, 'invalid', '/dryRun'],
    [{ ...resubmit, completeWithinSeconds: 0 }, current, 422, 'invalid', '/completeWithinSeconds'],
    [{ ...resubmit, completeWithinSeconds: 1.5 }, current, 422, 'invalid', '/completeWithinSeconds'],
    [{ ...resubmit, by: 'somebody else' }, current, 422, 'invalid', '/by'],
  ];
  for (const [body, ifMatch, status, code, pointer] of wrong) {
    const refused = await instruct(body, ifMatch);
    assert.deepEqual(
      [refused.status, refused.json.code, refused.json.errors?.[0].pointer],
      [status, code, pointer],
      `${JSON.stringify(body)} ${ifMatch}`,
    );
    if (status === 412) assert.equal(refused.headers.get('etag'), current);
  }
  for (const id of ['ord_nothing', '..%2f..', 'x'.repeat(3000), '%00'])
    assert.equal((await instruct(resubmit, current, id)).status, 404, id);
  assert.equal(await stored(), before);
});

test('an order whose time limit has passed continues only with a new time limit', async () => {
  const { instruct, clock, head } = await withOrderInError();
  await clock.advance(3_600_001);
  const current = `"${(await head()).rev}"`;
  const { status, json } = await instruct(resubmit, current);
  assert.deepEqual([status, json.code, json.errors[0].code, json.errors[0].pointer], [409, 'infeasible', 'time-limit-passed', '']);
  assert.match(json.errors[0].detail, /completeWithinSeconds/);
  assert.equal((await instruct({ ...resubmit, completeWithinSeconds: 600 }, current)).status, 202);
});

test('F-15: when another host holds the lease of an order, an instruction gets 409 locked, with the end of the lease but not its holder', async () => {
  const { instruct, store, clock, orderId, head } = await withOrderInError();
  await acquireLease(store, orderId, { holder: 'holder_canary', leaseMs: 30_000, clock });
  const leased = await head();
  const locked = await instruct(resubmit, `"${leased.rev}"`);
  assert.deepEqual([locked.status, locked.json.code, locked.headers.get('retry-after')], [409, 'locked', '30']);
  assert.ok(!locked.text.includes('holder_canary'));
  assert.equal((await head()).rev, leased.rev);
  await clock.advance(30_000);
  assert.equal((await instruct(resubmit, `"${leased.rev}"`)).status, 202);
});

test('F-63: an order whose instance is damaged is still shown, and cannot be resubmitted', async () => {
  const { instruct, ask, store, orderId, head } = await withOrderInError();
  const loaded = await store.load(orderId);
  assert.ok(loaded);
  const { rev } = loaded.state;
  await store.update({ ...loaded.state, rev: rev + 1, blob: '{"half' }, loaded.state, { messages: [], announcements: [] });
  const { status, json } = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
  assert.deepEqual([status, json.processState, json.steps.length, json.explanation], [200, 'Error', 4, null]);
  assert.equal((await ask('GET', `/orders/${orderId}/history`, { as: 'operator' })).status, 200);
  const refused = await instruct(resubmit, `"${rev + 1}"`);
  assert.deepEqual([refused.status, refused.json.code], [409, 'infeasible']);
  assert.equal((await head()).rev, rev + 1);
});

test('F-60: a suspended order shows its remaining time, and the dry run of a resumption shows its new deadline', async () => {
  const { ask, submitOrder, store, clock } = startApi();
  const orderId = await submitOrder('k');
  const instruct = async (body: object) =>
    ask('POST', `/orders/${orderId}/instructions`, {
      as: 'operator',
      headers: { 'if-match': `"${(await store.head(orderId))?.rev}"` },
      body: { reason: 'the stock is counted', ...body },
    });
  const shown = async () => (await ask('GET', `/orders/${orderId}`, { as: 'operator' })).json;
  const { completeBy, remainingSeconds } = await shown();
  assert.equal(remainingSeconds, null);
  await clock.advance(4_000);
  assert.deepEqual([(await instruct({ kind: 'suspend' })).status, (await instruct({ kind: 'suspend' })).json.code], [202, 'infeasible']);
  const order = await shown();
  const left = Math.ceil((Date.parse(completeBy) - clock.now()) / 1000);
  assert.deepEqual([order.suspended, order.completeBy, order.remainingSeconds, order.processState], [true, null, left, 'Processing']);
  assert.deepEqual([order.steps[0].status, order.steps[0].completeBy], ['Executing', null]);
  assert.match(
    order.explanation,
    /^Suspended by an operator at .*: its time stands still, and nothing is requested until somebody resumes it\.$/,
  );

  await clock.advance(3_600_000);
  const planned = (await instruct({ kind: 'resume', dryRun: true })).json;
  const until = new Date(Date.parse(completeBy) + 3_600_000).toISOString();
  assert.deepEqual([planned.suspended, planned.completeBy, planned.requests], [false, until, []]);
  assert.equal((await instruct({ kind: 'resume' })).status, 202);
  const resumed = await shown();
  assert.deepEqual(
    [resumed.suspended, resumed.completeBy, resumed.remainingSeconds, resumed.steps[0].completeBy],
    [false, until, null, until],
  );
  assert.equal((await instruct({ kind: 'resume' })).json.code, 'infeasible');
  assert.equal((await ask('POST', `/orders/${orderId}/instructions`, { as: 'acme', body: { kind: 'suspend', reason: 'x' } })).status, 403);
});

test('F-11: an unclaimed order shows that it is suspended', async () => {
  const { ask, submitOrder } = startApi({ claimOnSubmit: false });
  const orderId = await submitOrder('k');
  const body = { kind: 'suspend', reason: 'the stock is counted' };
  const { status } = await ask('POST', `/orders/${orderId}/instructions`, { as: 'operator', headers: { 'if-match': '"1"' }, body });
  const { explanation, remainingSeconds, processState } = (await ask('GET', `/orders/${orderId}`, { as: 'operator' })).json;
  assert.deepEqual([status, remainingSeconds, processState], [202, null, 'Pending']);
  assert.match(explanation, /does not start until it is resumed/);
});

test('F-60: an order can be amended: its new limits hold, and an operator sees what was changed', async () => {
  const { instruct, ask, orderId, head } = await withOrderInError();
  const show = async () => (await ask('GET', `/orders/${orderId}`, { as: 'operator' })).json;
  const amend = async (changed: object, more: object = {}) =>
    instruct({ kind: 'amend', reason: 'the bank is slow', ...changed, ...more }, `"${(await head()).rev}"`);
  assert.deepEqual([(await amend({})).status, (await amend({ endBy: 'soon' })).json.errors[0].pointer], [422, '/endBy']);
  const refused = await amend({ endBy: '2020-01-01T00:00:00Z', variables: { nothing: 1 } });
  assert.deepEqual(
    refused.json.errors.map(({ code, pointer }: { code: string; pointer: string }) => [code, pointer]),
    [
      ['input-invalid', '/endBy'],
      ['input-invalid', '/variables/nothing'],
    ],
  );
  const endBy = '2026-01-01T05:00:00.000Z';
  assert.equal((await amend({ endBy, maxFailures: 7 })).status, 202);
  const order = await show();
  assert.deepEqual(
    [order.amended, order.endBy, order.processState, (await head()).maxFailures],
    [{ endBy, maxFailures: 7 }, endBy, 'Error', 7],
  );
});

test('F-60: an instruction that is repeated under its idempotency key is carried out once, and the second answer says so', async () => {
  const { ask, orderId, head } = await withOrderInError();
  const headers = { 'if-match': `"${(await head()).rev}"`, 'idempotency-key': 'once' };
  const give = (body: object) => ask('POST', `/orders/${orderId}/instructions`, { as: 'operator', headers, body });
  const first = await give(resubmit);
  const again = await give(resubmit);
  assert.deepEqual([first.status, again.status, again.text === first.text], [202, 202, true]);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.equal((await give({ ...resubmit, reason: 'another one' })).json.code, 'idempotency-key-reused');
});

test('F-157: the dry run of an infeasible instruction gets 200 with every reason and the graph, even for a finished order', async () => {
  const { instruct, ask, orderId, head } = await withOrderInError();
  const dryRun = async (body: object) => (await instruct({ reason: 'r', dryRun: true, ...body })).json;
  const { feasible, refusals, effects, graph } = await dryRun({ kind: 'retry-undo' });
  assert.deepEqual([feasible, refusals.map(({ code }: { code: string }) => code)], [false, ['undo-running', 'nothing-to-do']]);
  assert.deepEqual(effects, { requests: [], undoes: [], skips: [], marks: [] });
  assert.equal(graph.length, (await ask('GET', `/orders/${orderId}`, { as: 'operator' })).json.steps.length);
  assert.equal((await instruct({ kind: 'terminate', reason: 'r' }, `"${(await head()).rev}"`)).status, 202);
  assert.deepEqual((await dryRun(resubmit)).refusals[0].code, 'finished');
});
