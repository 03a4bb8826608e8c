import assert from 'node:assert/strict';
import test from 'node:test';
import { defineAgent, defineApp, defineRule, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { startApi, type Who } from './support.ts';

type Api = ReturnType<typeof startApi>;

const declined = {
  name: 'A declined card of a big order',
  object: { workflow: 'fulfil-order' },
  event: { kind: 'exception', type: 'CardDeclined' },
  condition: 'order.quantity > 10.0',
  action: { kind: 'task', group: 'claims', text: { $cel: '"Call about " + order.sku' } },
  mode: 'enforce',
  priority: 5,
};

const put = ({ ask }: Api, body: object, version?: number, id = 'declined', as: Who = 'admin') =>
  ask('PUT', `/rules/${id}`, {
    as,
    body: { reason: 'a bad day', ...body },
    headers: version === undefined ? {} : { 'if-match': `"${version}"` },
  });

test('F-140: an admin writes a rule, which gets an id, a version, defaults and figures', async () => {
  const api = startApi();
  const { status, headers, json } = await put(api, declined);
  const figures = { hits: 0, lastHitAt: null, acted: 0, passed: 0, failedAgain: 0 };
  const rule = { id: 'declined', origin: 'people', ...declined, timesPerOrder: 3, version: 1, ...figures };
  assert.deepEqual([status, headers.get('etag'), json], [201, '"1"', rule]);
  const shown = await api.ask('GET', '/rules/declined', { as: 'viewer' });
  assert.deepEqual([shown.status, shown.headers.get('etag'), shown.json], [200, '"1"', rule]);
  assert.deepEqual((await api.ask('GET', '/rules', { as: 'operator' })).json, { items: [rule], next: null });
});

test('a change of a rule needs the version that its author has read, and old versions are kept', async () => {
  const api = startApi();
  await put(api, declined);
  assert.equal((await put(api, declined)).status, 428);
  const stale = await put(api, declined, 7);
  assert.deepEqual([stale.status, stale.headers.get('etag')], [412, '"1"']);
  assert.equal((await put(api, declined, 1, 'another')).status, 412);
  const changed = await put(api, { ...declined, mode: 'off' }, 1);
  assert.deepEqual([changed.status, changed.json.version, changed.json.mode], [200, 2, 'off']);
  assert.equal((await api.ask('GET', '/rules/declined?version=1', { as: 'operator' })).json.mode, 'enforce');
  assert.equal((await api.ask('GET', '/rules/declined?version=3', { as: 'operator' })).status, 404);
  const { json } = await api.ask('GET', '/rules/declined/versions?limit=1', { as: 'viewer' });
  assert.deepEqual([json.items[0].version, json.items[0].by, json.items[0].reason], [2, 'ada', 'a bad day']);
  const rest = await api.ask('GET', `/rules/declined/versions?limit=1&cursor=${json.next}`, { as: 'viewer' });
  assert.deepEqual(
    rest.json.items.map(({ version }: { version: number }) => version),
    [1],
  );
});

test('a deleted rule no longer acts, its versions stay, and a new rule with its id continues their numbers', async () => {
  const api = startApi();
  await put(api, declined);
  const headers = { 'if-match': '"1"' };
  const remove = (query: string, given: object) => api.ask('DELETE', `/rules/declined${query}`, { as: 'admin', ...given });
  assert.equal((await remove('', { headers })).status, 400);
  assert.equal((await remove('?reason=gone', {})).status, 428);
  assert.equal((await remove('?reason=gone', { headers: { 'if-match': '"2"' } })).status, 412);
  assert.equal((await remove('?reason=gone', { headers })).status, 200);
  assert.equal((await remove('?reason=gone', { headers })).status, 404);
  assert.equal((await api.ask('GET', '/rules/declined', { as: 'operator' })).status, 404);
  const again = await put(api, declined);
  assert.deepEqual([again.status, again.json.version], [201, 3]);
  const { items } = (await api.ask('GET', '/rules/declined/versions', { as: 'operator' })).json;
  assert.deepEqual(
    items.map(({ version, rule }: { version: number; rule: object | null }) => [version, rule === null]),
    [
      [3, false],
      [2, true],
      [1, false],
    ],
  );
});

test('F-140: a rule that does not fit the workflow is refused with the wrong field, and with the column in an expression', async () => {
  const api = startApi();
  const said = async (body: object) => {
    const { status, json } = await put(api, { ...declined, ...body });
    return [
      status,
      ...json.errors.map(({ pointer, column }: { pointer: string; column?: number }) => (column ? `${pointer} ${column}` : pointer)),
    ];
  };
  assert.deepEqual(await said({ condition: 'order.quantty > 10.0' }), [422, '/condition 7']);
  assert.deepEqual(await said({ condition: 'order.card == ""' }), [422, '/condition 1']);
  assert.deepEqual(await said({ object: { workflow: 'fulfill-order' } }), [422, '/object/workflow']);
  assert.deepEqual(await said({ action: { kind: 'task', txt: 'x' } }), [422, '/action/txt']);
  assert.deepEqual(await said({ action: { kind: 'explode' } }), [422, '/action/kind']);
  assert.deepEqual(await said({ version: 3, hits: 7 }), [422, '/version', '/hits']);
  assert.deepEqual(await said({ origin: 'app' }), [422, '/origin']);
  assert.equal((await put(api, declined, undefined, 'Not_an_id')).status, 400);
  assert.deepEqual((await api.ask('GET', '/rules', { as: 'admin' })).json.items, []);
});

test('a literal value in the action of a rule must match the whole schema of its operation, such as the length of a text', async () => {
  const Receipt = z.strictObject({ number: z.string().length(8) });
  const agent = defineAgent('till', { pay: operation({ input: z.object({}), output: Receipt, run: () => ({ number: '12345678' }) }) });
  const workflow = defineWorkflow('fulfil-order', { version: 1, order: z.object({}) }, () => sequence(agent.pay({})));
  const api = startApi({ app: defineApp({ workflows: [workflow], agents: [agent] }) });
  const skips = (number: unknown) =>
    put(api, {
      object: { workflow: 'fulfil-order', step: 'order/pay' },
      event: { kind: 'exception' },
      action: { kind: 'skip', output: { number } },
    });
  const refused = await skips('1234');
  assert.deepEqual([refused.status, refused.json.errors[0].pointer], [422, '/action/output/number']);
  assert.equal((await skips('12345678')).status, 201);
});

test('operators and viewers read rules, admins write them, clients do neither', async () => {
  const api = startApi();
  const tried = async (as: Who) => [
    (await api.ask('GET', '/rules', { as })).status,
    (await put(api, declined, undefined, `by-${as}`, as)).status,
  ];
  assert.deepEqual(await tried('viewer'), [200, 403]);
  assert.deepEqual(await tried('operator'), [200, 403]);
  assert.deepEqual(await tried('acme'), [403, 403]);
  assert.deepEqual(await tried('admin'), [200, 201]);
});

test('each change of a rule is in the audit, in the transaction of the change', async () => {
  const api = startApi();
  await put(api, declined);
  await put(api, { ...declined, mode: 'off' }, 1);
  await api.ask('DELETE', '/rules/declined?reason=gone', { as: 'admin', headers: { 'if-match': '"2"' } });
  const { items } = (await api.ask('GET', '/audit', { as: 'operator' })).json;
  const entries = items.map(({ kind, target, action, reason, before, after }: { [field: string]: unknown & { mode?: string } }) => [
    ...[kind, target, action, reason],
    ...[before?.mode, after?.mode],
  ]);
  assert.deepEqual(entries, [
    ['rule', 'declined', 'delete', 'gone', 'off', undefined],
    ['rule', 'declined', 'change', 'a bad day', 'enforce', 'off'],
    ['rule', 'declined', 'create', 'a bad day', undefined, 'enforce'],
  ]);
});

test('F-129: a person can change only the mode of a rule that the app declares', async () => {
  const agent = defineAgent('post', { send: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }) });
  const workflow = defineWorkflow('fulfil-order', { version: 1, order: z.object({}) }, () => sequence(agent.send({})));
  const late = defineRule('late', { name: 'Late', event: { kind: 'step-late' }, action: { kind: 'suspend' }, mode: 'dry-run' });
  const api = startApi({ app: defineApp({ workflows: [workflow], agents: [agent], rules: [late] }) });
  const shown = (await api.ask('GET', '/rules/late', { as: 'operator' })).json;
  assert.deepEqual([shown.origin, shown.mode, shown.version], ['app', 'dry-run', 1]);
  const same = { event: { kind: 'step-late' }, action: { kind: 'suspend' } };
  const wrong = await put(api, { ...same, action: { kind: 'compensate' }, mode: 'enforce' }, 1, 'late');
  assert.deepEqual([wrong.status, wrong.json.errors[0].pointer], [422, '/action']);
  const renamed = await put(api, { ...same, name: 'Very late', mode: 'enforce' }, 1, 'late');
  assert.deepEqual([renamed.status, renamed.json.errors[0].pointer], [422, '/name']);
  assert.match(renamed.json.errors[0].detail, /only its mode may change here\. Send this field as GET \/rules\/\{id\} shows it/);
  const named = await put(api, { ...same, name: 'Late', mode: 'dry-run' }, 1, 'late');
  assert.deepEqual([named.status, named.json.version], [200, 2]);
  const changed = await put(api, { ...same, mode: 'enforce' }, 2, 'late');
  const { status, json } = changed;
  assert.deepEqual([status, json.mode, json.version, json.origin, json.name], [200, 'enforce', 3, 'app', 'Late']);
  const removed = await api.ask('DELETE', '/rules/late?reason=r', { as: 'admin', headers: { 'if-match': '"3"' } });
  assert.equal(removed.status, 409);
  const { items } = (await api.ask('GET', '/rules/late/versions', { as: 'operator' })).json;
  assert.deepEqual(
    items.map(({ version, by }: { version: number; by: string | null }) => [version, by]),
    [
      [3, 'ada'],
      [2, 'ada'],
      [1, null],
    ],
  );
});

test('a further rule is refused if 200 rules are in force for one kind of event, unless its mode is off', async () => {
  const api = startApi();
  const { name: _, ...rule } = declined;
  for (let index = 0; index < 200; index++) assert.equal((await put(api, rule, undefined, `r-${index}`)).status, 201);
  const refused = await put(api, rule, undefined, 'r-200');
  assert.deepEqual([refused.status, refused.json.errors[0].code], [422, 'too-many']);
  assert.equal((await put(api, { ...rule, mode: 'off' }, undefined, 'r-200')).status, 201);
});
