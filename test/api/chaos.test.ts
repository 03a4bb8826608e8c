import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '#ports/clock';
import { createExperiments } from '#runtime/chaos/experiments';
import { goodOrder, startApi } from './support.ts';

const drop = { kind: 'drop-reply', agent: 'payment' };

/** The API of a host on one machine. */
function local() {
  const samples = new Map([['ok', { order: goodOrder }]]);
  return startApi({ chaos: { ...createExperiments(manualClock(), () => {}), agents: ['payment', 'stock'], samples: () => samples } });
}

test('a system that does not run on one machine refuses every experiment, and says which command starts one that does', async () => {
  const { ask } = startApi();
  for (const [method, path, body] of [
    ['GET', '/chaos'],
    ['POST', '/chaos', drop],
    ['POST', '/chaos/exp_1/stop'],
  ] as const) {
    const { status, json } = await ask(method, path, { as: 'admin', ...(body ? { body } : {}) });
    assert.deepEqual([status, json.errors[0].code], [404, 'local-only'], `${method} ${path}`);
    assert.match(json.errors[0].detail, /npm start/);
  }
  assert.equal((await ask('GET', '/session', { as: 'admin' })).json.hasChaos, false);
});

test('an experiment that is started shows what should happen and its sample order, and a person ends it', async () => {
  const { ask } = local();
  const started = await ask('POST', '/chaos', { as: 'operator', body: { ...drop, sample: 'ok' } });
  assert.deepEqual([started.status, started.json.state, started.json.by], [201, 'waiting', 'olga']);
  assert.equal((await ask('GET', `/orders/${started.json.orders[0]}`, { as: 'viewer' })).json.reference, 'ok');
  const shown = await ask('GET', '/chaos', { as: 'viewer' });
  assert.deepEqual([shown.json.agents, shown.json.samples, shown.json.experiments], [['payment', 'stock'], ['ok'], [started.json]]);
  const stopped = await ask('POST', `/chaos/${started.json.id}/stop`, { as: 'operator' });
  assert.deepEqual([stopped.json.state, stopped.json.steps.map(({ at }: { at: string | null }) => at)], ['stopped', [null, null, null]]);
});

test('an experiment that cannot start changes nothing, and its refusal names the wrong field and the remedy', async () => {
  const { ask } = local();
  const agents = await ask('GET', '/chaos?agent=bank', { as: 'viewer' });
  assert.deepEqual([agents.status, agents.json.errors[0].code], [400, 'unknown-agent']);
  const refusals = [
    [{ ...drop, agent: 'bank' }, 422, 'The app has no agent "bank". Name one of: payment, stock.'],
    [{ ...drop, sample: 'tea' }, 422, 'The app has no sample "tea". Name one of: ok.'],
    [{ kind: 'silence-agent', agent: 'payment', seconds: 3_600 }, 422, undefined],
    [{ kind: 'flood' }, 422, undefined],
  ] as const;
  for (const [body, status, detail] of refusals) {
    const { status: answered, json } = await ask('POST', '/chaos', { as: 'operator', body });
    assert.equal(answered, status, JSON.stringify(body));
    if (detail) assert.equal(json.errors[0].detail, detail);
  }
  assert.deepEqual((await ask('GET', '/chaos', { as: 'viewer' })).json.experiments, []);
  await ask('POST', '/chaos', { as: 'operator', body: drop });
  const second = await ask('POST', '/chaos', { as: 'operator', body: { ...drop, agent: 'stock' } });
  assert.deepEqual([second.status, second.json.errors[0].code], [409, 'is-running']);
  assert.equal((await ask('POST', '/chaos/exp_none/stop', { as: 'operator' })).status, 404);
  assert.equal((await ask('POST', '/chaos', { as: 'viewer', body: drop })).status, 403);
});
