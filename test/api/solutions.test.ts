import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { solutionLimits } from '#core/solutions/solution';
import { newSolution } from '#roles/solutions/solutions';
import { startApi } from './support.ts';

const operator = { as: 'operator' } as const;
const viewer = { as: 'viewer' } as const;
type System = ReturnType<typeof startApi>;

/** Blocks an order, and returns its task. */
async function taskIn({ ask, orderInError }: System, key = 'k') {
  const orderId = await orderInError(key);
  const order = await ask('GET', `/orders/${orderId}`, operator);
  const path = `/tasks/${order.json.taskId}`;
  return { orderId, path, match: { 'if-match': order.headers.get('etag') as string } };
}

type Task = Awaited<ReturnType<typeof taskIn>>;
const resolve = ({ ask }: System, { path, match }: Task, body: object) =>
  ask('POST', `${path}/resolve`, { ...operator, headers: match, body: { reason: 'mended', ...body } });
const suggested = async ({ ask }: System, { path }: Task) => (await ask('GET', path, viewer)).json.suggestions;
const statsOf = async ({ ask }: System, id: string) => (await ask('GET', `/solutions/${id}`, viewer)).json.stats;

const paid = { chargeId: 'ch_1', token: 't_1' };
const byHand = { instruction: { kind: 'skip', output: paid, effect: 'done' }, saveAs: { name: 'Paid by hand!' } };
const refusedWith = ({ status, json }: { status: number; json: { errors?: { pointer: string; code: string }[] } }) =>
  [status, json.errors?.map(({ pointer, code }) => `${pointer} ${code}`)] as const;

describe('a solution', () => {
  test('F-155: is stored in the write that resolves a task, without any value of the order', async () => {
    const system = startApi();
    const task = await taskIn(system);
    assert.equal((await resolve(system, task, byHand)).status, 202);
    const [kept] = (await system.ask('GET', '/solutions', viewer)).json.items;
    const { resolution, fingerprint } = (await system.ask('GET', task.path, operator)).json;
    assert.deepEqual(kept, {
      id: resolution.solutionId,
      name: 'Paid by hand!',
      fingerprints: [fingerprint],
      instruction: { kind: 'skip', output: { chargeId: '{{chargeId}}', token: '{{token}}' }, effect: 'done' },
      parameters: [
        { name: 'chargeId', schema: { type: 'string' } },
        { name: 'token', schema: { type: 'string' } },
      ],
      version: 1,
      createdBy: 'olga',
      stats: { used: 1, passed: 0, failedAgain: 0, failedOtherwise: 0, lastUsedAt: resolution.at },
    });
    assert.match(kept.id, /^paid-by-hand-[0-9a-f]{8}$/);
    const audit = (await system.ask('GET', '/audit?kind=solution', operator)).json.items;
    assert.partialDeepStrictEqual(audit, [{ action: 'create', by: 'olga', target: kept.id, reason: 'mended', before: null }]);
    assert.doesNotMatch(JSON.stringify([kept, audit]), /ch_1|t_1/);
  });

  test('F-157: is stored only if the task is resolved: a refusal, a dry run and a repeated call store none', async () => {
    const system = startApi();
    const { ask } = system;
    const task = await taskIn(system);
    const saveAs = { name: 'n' };
    const infeasible = { kind: 'resume-at', path: 'order/none', undoBetween: true };
    assert.equal((await resolve(system, task, { instruction: infeasible, saveAs })).status, 409);
    assert.equal((await resolve(system, task, { instruction: { kind: 'resubmit' }, saveAs, dryRun: true })).status, 200);
    const wrong = await resolve(system, task, { instruction: { kind: 'resubmit' }, saveAs: { ...saveAs, appliesWhen: 'order.total <' } });
    assert.deepEqual(refusedWith(wrong), [422, ['/saveAs/appliesWhen invalid-expression']]);
    assert.deepEqual((await ask('GET', '/solutions', viewer)).json.items, []);
    const call = {
      ...operator,
      headers: { ...task.match, 'idempotency-key': 'r-1' },
      body: { instruction: { kind: 'resubmit' }, reason: 'r', saveAs },
    };
    assert.equal((await ask('POST', `${task.path}/resolve`, call)).status, 202);
    const again = await ask('POST', `${task.path}/resolve`, call);
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [202, 'true']);
    const other = await ask('POST', `${task.path}/resolve`, { ...call, body: { ...call.body, reason: 'another' } });
    assert.deepEqual([other.status, other.json.code], [422, 'idempotency-key-reused']);
    const more = await ask('POST', `${task.path}/resolve`, { ...call, headers: { ...call.headers, 'idempotency-key': 'r-2' } });
    assert.deepEqual([more.status, more.json.code], [409, 'conflict']);
    assert.equal((await ask('GET', '/solutions', viewer)).json.items.length, 1);
    assert.equal((await ask('GET', '/audit?kind=solution', operator)).json.items.length, 1);
  });

  test('F-155: resolves another task with the values that a person gives, and never with those of the first order', async () => {
    const system = startApi();
    const { ask } = system;
    await resolve(system, await taskIn(system), byHand);
    const [{ id: solutionId }] = (await ask('GET', '/solutions', viewer)).json.items;
    const task = await taskIn(system, 'other');
    for (const [parameters, expected] of [
      [undefined, ['/parameters/chargeId required', '/parameters/token required']],
      [{ chargeId: 7, token: 't' }, ['/parameters/chargeId invalid-type']],
      [{ chargeId: 'c', token: 't', more: 1 }, ['/parameters/more unknown-parameter']],
    ] as const) {
      const refused = await resolve(system, task, { solutionId, ...(parameters ? { parameters } : {}) });
      assert.deepEqual(refusedWith(refused), [422, expected]);
    }
    assert.equal((await resolve(system, task, { solutionId, parameters: { chargeId: 'ch_2', token: 't_2' } })).status, 202);
    const order = (await ask('GET', `/orders/${task.orderId}`, operator)).json;
    assert.equal(order.steps.find(({ path }: { path: string }) => path === 'order/charge').output.chargeId, 'ch_2');
    assert.partialDeepStrictEqual((await ask('GET', task.path, operator)).json.resolution, {
      solutionId,
      instruction: { kind: 'skip', output: { chargeId: 'ch_2' } },
    });
    const history = (await ask('GET', `/orders/${task.orderId}/history`, operator)).json.items;
    assert.partialDeepStrictEqual(
      history.filter(({ type }: { type: string }) => type === 'InstructionGiven'),
      [{ solution: solutionId }],
    );
  });

  test('F-155: computes its expressions over the order of the task', async () => {
    const system = startApi();
    const { ask } = system;
    const instruction = { kind: 'skip', output: { chargeId: { $cel: '"ch-" + order.sku' }, token: '{{token}}' }, effect: 'done' };
    const body = { instruction, parameters: [{ name: 'token', schema: {} }], reason: 'r' };
    assert.equal((await ask('PUT', '/solutions/by-order', { ...operator, body })).status, 201);
    const task = await taskIn(system);
    const wrong = await resolve(system, task, { solutionId: 'by-order', parameters: { token: 7 } });
    assert.deepEqual([wrong.status, wrong.json.code, wrong.json.errors[0].pointer], [409, 'infeasible', '/parameters/token']);
    assert.equal((await resolve(system, task, { solutionId: 'by-order', parameters: { token: 't' } })).status, 202);
    const order = (await ask('GET', `/orders/${task.orderId}`, operator)).json;
    assert.equal(order.steps.find(({ path }: { path: string }) => path === 'order/charge').output.chargeId, 'ch-tea');
  });

  test('F-155: has figures from verified resolutions alone, and a request that contains figures is refused', async () => {
    const system = startApi();
    const { ask } = system;
    await resolve(system, await taskIn(system), { instruction: { kind: 'resubmit' }, saveAs: { name: 'Again' } });
    const [{ id: solutionId }] = (await ask('GET', '/solutions', viewer)).json.items;
    await system.answer('payment', { status: 'succeeded', output: paid });
    assert.partialDeepStrictEqual(await statsOf(system, solutionId), { used: 1, passed: 1 });
    await resolve(system, await taskIn(system, 'b'), { solutionId });
    await system.answer('payment', {
      status: 'failed',
      fault: { type: 'CardDeclined', class: 'unexpected', permanent: true, message: 'declined' },
    });
    assert.partialDeepStrictEqual(await statsOf(system, solutionId), { used: 2, passed: 1 });
    const typed = { instruction: { kind: 'resubmit' }, stats: { used: 9 }, reason: 'r' };
    assert.deepEqual(refusedWith(await ask('PUT', '/solutions/mine', { ...operator, body: typed })), [422, ['/stats unknown-field']]);
  });
});

describe('the suggestions of a task', () => {
  const put = ({ ask }: System, id: string, body: object) =>
    ask('PUT', `/solutions/${id}`, { ...operator, body: { instruction: { kind: 'resubmit' }, reason: 'r', ...body } });

  test('F-155: are the solutions that apply, the most trusted first, each with its check on the order', async () => {
    const system = startApi();
    const task = await taskIn(system);
    const { fingerprint } = (await system.ask('GET', task.path, viewer)).json;
    await put(system, 'a-untried', { fingerprints: [fingerprint] });
    await put(system, 'b-infeasible', { fingerprints: [fingerprint], instruction: { kind: 'resume' } });
    await put(system, 'c-values', {
      appliesWhen: 'exception.type == "CardDeclined"',
      instruction: { kind: 'skip', output: { chargeId: '{{id}}' }, effect: 'done' },
      parameters: [{ name: 'id', schema: { type: 'string' } }],
    });
    await put(system, 'd-elsewhere', { fingerprints: ['another'] });
    await put(system, 'e-false', { fingerprints: [fingerprint], appliesWhen: 'exception.type == "OutOfStock"' });
    await put(system, 'z-proven', { fingerprints: [fingerprint] });
    await resolve(system, await taskIn(system, 'b'), { solutionId: 'z-proven' });
    await system.answer('payment', { status: 'succeeded', output: paid });
    const said = (await suggested(system, task)).map(({ solutionId, why, feasible, passed }: { [field: string]: unknown }) => [
      solutionId,
      why,
      feasible,
      passed,
    ]);
    assert.deepEqual(said, [
      ['z-proven', 'same-fingerprint', true, 1],
      ['a-untried', 'same-fingerprint', true, 0],
      ['b-infeasible', 'same-fingerprint', false, 0],
      ['c-values', 'condition', true, 0],
    ]);
    await resolve(system, task, { solutionId: 'z-proven' });
    assert.deepEqual(await suggested(system, task), [], 'a resolved task needs none');
  });

  test('F-155: are evaluated on the order without its secrets', async () => {
    const system = startApi();
    const task = await taskIn(system);
    await put(system, 'by-order', { appliesWhen: 'order.sku == "tea" && order.quantity == 2.0' });
    await put(system, 'by-secret', { appliesWhen: 'order.card.startsWith("tok")' });
    assert.deepEqual(
      (await suggested(system, task)).map(({ solutionId }: { solutionId: string }) => solutionId),
      ['by-order'],
    );
  });

  test(`are at most ${solutionLimits.suggestionsMax}`, async () => {
    const system = startApi();
    const task = await taskIn(system);
    for (const id of 'abcdefg') await put(system, id, { appliesWhen: 'true' });
    assert.equal((await suggested(system, task)).length, solutionLimits.suggestionsMax);
  });
});

describe('the solutions', () => {
  const body = { name: 'Try again', fingerprints: ['f'], instruction: { kind: 'resubmit' }, reason: 'r' };

  test('F-156: are changed at run time; of two people who have read the same version, one can change it; the audit has each change', async () => {
    const { ask } = startApi();
    const put = (more: object, headers = {}) => ask('PUT', '/solutions/again', { ...operator, headers, body: { ...body, ...more } });
    const first = await put({});
    assert.deepEqual([first.status, first.headers.get('etag'), first.json.stats.used], [201, '"1"', 0]);
    assert.deepEqual([(await put({})).status, (await put({}, { 'if-match': '"9"' })).status], [428, 412]);
    const changed = await put({ name: 'Once more' }, { 'if-match': '"1"' });
    assert.deepEqual([changed.status, changed.json.version, changed.json.name], [200, 2, 'Once more']);
    const away = (headers: object, query = '?reason=old') =>
      ask('DELETE', `/solutions/again${query}`, { ...operator, headers: { ...headers } });
    assert.deepEqual(
      [(await away({})).status, (await away({ 'if-match': '"1"' })).status, (await away({ 'if-match': '"2"' }, '')).status],
      [428, 412, 400],
    );
    assert.equal((await away({ 'if-match': '"2"' })).status, 200);
    assert.deepEqual([(await ask('GET', '/solutions/again', viewer)).status, (await away({ 'if-match': '"2"' })).status], [404, 404]);
    const audit = (await ask('GET', '/audit?kind=solution', operator)).json.items;
    assert.partialDeepStrictEqual(audit, [
      { action: 'delete', target: 'again', reason: 'old', before: { version: 2 }, after: null },
      { action: 'change', target: 'again', before: { name: 'Try again' }, after: { name: 'Once more' } },
      { action: 'create', target: 'again', before: null, after: { version: 1 } },
    ]);
  });

  test('F-157: are refused if they cannot work, with the wrong field and the remedy, and nothing changes', async () => {
    const { ask, stored } = startApi();
    const before = await stored();
    const given: readonly (readonly [object, string])[] = [
      [{ instruction: { kind: 'odd' } }, '/instruction/kind invalid-union'],
      [{ instruction: { kind: '{{kind}}' }, parameters: [{ name: 'kind', schema: {} }] }, '/instruction/kind invalid-place'],
      [{ instruction: { kind: 'skip', output: {} } }, '/instruction/effect invalid-value'],
      [{ instruction: { kind: 'resubmit', reason: 'r' } }, '/instruction/reason unknown-field'],
      [{ instruction: { kind: 'resubmit', answer: '{{x}}' } }, '/instruction/answer unknown-parameter'],
      [{ instruction: { kind: 'resubmit', answer: { $cel: 'order.' } } }, '/instruction/answer invalid-expression'],
      [{ parameters: [{ name: 'x', schema: {} }] }, '/parameters/0/name unused-parameter'],
      [{ parameters: [{ name: '1', schema: {} }] }, '/parameters/0/name invalid-format'],
      [
        { instruction: { kind: 'resubmit', answer: '{{x}}' }, parameters: [{ name: 'x', schema: { type: 'odd' } }] },
        '/parameters/0/schema invalid-schema',
      ],
      [{ appliesWhen: 'outputs.charge.id == "x"' }, '/appliesWhen not-readable'],
      [{ createdBy: 'me' }, '/createdBy unknown-field'],
    ];
    for (const [more, expected] of given) {
      const refused = await ask('PUT', '/solutions/again', { ...operator, body: { ...body, ...more } });
      assert.deepEqual(refusedWith(refused), [422, [expected]], JSON.stringify(more));
    }
    assert.equal((await ask('PUT', '/solutions/No_Id', { ...operator, body })).status, 400);
    assert.equal(await stored(), before);
  });

  test('are listed page by page, and have a limit that says what to do', async () => {
    const { ask, store } = startApi();
    for (let index = 0; index < solutionLimits.solutionsMax; index++) {
      const draft = { id: `s-${1000 + index}`, name: 'n', fingerprints: [], instruction: { kind: 'resubmit' }, parameters: [] };
      await store.putDocument(newSolution(draft, 'olga').document, 0);
    }
    const page = (await ask('GET', '/solutions?limit=100', viewer)).json;
    const rest = (await ask('GET', `/solutions?limit=100&cursor=${page.next}`, viewer)).json;
    assert.deepEqual([page.items.length, rest.items.length, rest.items.at(-1).id, rest.next], [100, 100, 's-1199', null]);
    const refused = await ask('PUT', '/solutions/more', { ...operator, body });
    assert.deepEqual([refused.status, refused.json.code], [409, 'conflict']);
    assert.match(refused.json.errors[0].detail, /200 solutions, which is the limit\. Delete one/);
  });
});

describe('a rule made of a solution', () => {
  test('F-156: gives the instruction that people gave, and its back-test compares both', async () => {
    const system = startApi();
    const { ask } = system;
    const task = await taskIn(system);
    await resolve(system, task, { instruction: { kind: 'resubmit' }, saveAs: { name: 'Again' } });
    await system.answer('payment', { status: 'succeeded', output: paid });
    const [{ id, fingerprints }] = (await ask('GET', '/solutions', viewer)).json.items;
    const { rule } = (await ask('POST', `/solutions/${id}/rule`, { ...operator, body: {} })).json;
    assert.deepEqual(rule, {
      id,
      name: 'Again',
      event: { kind: 'exception', type: 'CardDeclined' },
      object: { workflow: 'fulfil-order', step: 'order/charge' },
      condition: `exception.fingerprint in ${JSON.stringify(fingerprints)}`,
      action: { kind: 'retry' },
      mode: 'dry-run',
      priority: 0,
      timesPerOrder: 3,
    });
    const tested = await ask('POST', '/rules/back-test', { ...operator, body: { rule, days: 1 } });
    assert.partialDeepStrictEqual([tested.status, tested.json], [200, { examined: 1, matched: 1, sameOutcome: 1 }]);
    const { id: _, ...content } = rule;
    assert.equal((await ask('PUT', `/rules/${id}`, { as: 'admin', body: { ...content, reason: 'proven' } })).status, 201);
  });

  test('F-156: needs a value or an expression for each parameter, and is refused for an instruction that rules cannot give', async () => {
    const { ask } = startApi();
    const put = (id: string, instruction: object, parameters: readonly object[] = []) =>
      ask('PUT', `/solutions/${id}`, {
        ...operator,
        body: { instruction, parameters, appliesWhen: 'exception.type == "CardDeclined"', reason: 'r' },
      });
    const rule = (id: string, parameters = {}) => ask('POST', `/solutions/${id}/rule`, { ...operator, body: { parameters } });
    await put('cheaper', { kind: 'replace-input', path: 'order/charge', input: { amount: '{{amount}}' } }, [
      { name: 'amount', schema: {} },
    ]);
    assert.deepEqual(refusedWith(await rule('cheaper')), [422, ['/parameters/amount required']]);
    assert.deepEqual((await rule('cheaper', { amount: { $cel: 'order.total' } })).json.rule.action, {
      kind: 'replace-input',
      path: 'order/charge',
      input: { amount: { $cel: 'order.total' } },
    });
    await put('by-hand', { kind: 'skip', output: {}, effect: 'done' });
    await put('over', { kind: 'restart', undoFirst: true });
    assert.deepEqual(refusedWith(await rule('by-hand')), [422, ['/instruction/effect no-rule']]);
    assert.deepEqual(refusedWith(await rule('over')), [422, ['/instruction/kind no-rule']]);
    assert.equal((await rule('none')).status, 404);
  });
});
