import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { issuer, startApi } from './support.ts';

const operator = { as: 'operator' } as const;
const otto = await issuer.sign({ role: 'operator', subject: 'otto', groups: ['claims', 'night'] });
const viewer = { as: 'viewer' } as const;

type Ask = ReturnType<typeof startApi>['ask'];

async function taskIn({ ask, orderInError }: ReturnType<typeof startApi>, key = 'k') {
  const orderId = await orderInError(key);
  const order = await ask('GET', `/orders/${orderId}`, operator);
  return { orderId, id: order.json.taskId as string, path: `/tasks/${order.json.taskId}`, etag: order.headers.get('etag') as string };
}

const idsIn = async (ask: Ask, query: string, token = otto): Promise<readonly string[]> =>
  (await ask('GET', `/tasks${query}`, { token })).json.items.map(({ id }: { id: string }) => id);

describe('the tasks of people', () => {
  test('F-153: a blocked order has a task that people see at once, with what they need to decide', async () => {
    const system = startApi();
    const { orderId, id, path, etag } = await taskIn(system);
    const { status, json } = await system.ask('GET', path, viewer);
    assert.equal(status, 200);
    assert.partialDeepStrictEqual(json, {
      id,
      orderId,
      workflow: { name: 'fulfil-order', version: 3 },
      kind: 'fault',
      state: 'open',
      overdue: false,
      reminders: 0,
      nextReminderAt: json.dueAt,
      escalation: { level: 0, to: null },
      fault: { type: 'CardDeclined', source: 'order/charge' },
      comments: [],
      orderRev: Number(etag.slice(1, -1)),
      objects: [
        { kind: 'order', id: orderId },
        { kind: 'step', id: 'order/charge' },
      ],
    });
    await taskIn(system, 'other');
    assert.deepEqual((await system.ask('GET', path, viewer)).json.similar, { open: 1, resolved: 0 });
  });

  test('a person claims a task, and the refusal of a second person names the first; the order does not change', async () => {
    const system = startApi();
    const { ask } = system;
    const { id, orderId, path, etag } = await taskIn(system);
    assert.partialDeepStrictEqual((await ask('POST', `${path}/claim`, operator)).json, { id, state: 'claimed', assignee: 'olga', rev: 2 });
    assert.equal((await ask('POST', `${path}/claim`, operator)).json.rev, 2, 'a claim of one’s own changes nothing');
    for (const [action, body] of [
      ['claim', undefined],
      ['release', undefined],
      ['assign', { assignee: 'otto' }],
    ] as const) {
      const refused = await ask('POST', `${path}/${action}`, { token: otto, body });
      assert.deepEqual([refused.status, refused.json.code], [409, 'conflict'], action);
      assert.match(refused.json.errors[0].detail, /^olga has claimed the task\. Ask olga to release it/);
    }
    assert.partialDeepStrictEqual((await ask('POST', `${path}/comment`, { token: otto, body: { text: 'the bank is away' } })).json, {
      comments: [{ by: 'otto', text: 'the bank is away' }],
    });
    assert.equal((await ask('GET', `/orders/${orderId}`, operator)).headers.get('etag'), etag, 'the If-Match of a decision still holds');
    const released = (await ask('POST', `${path}/release`, operator)).json;
    assert.deepEqual([released.state, 'assignee' in released, 'claimedAt' in released], ['open', false, false]);
  });

  test('an admin gives a claimed task to another person, who gives it to a group; the audit has each change', async () => {
    const system = startApi();
    const { ask } = system;
    const { id, path } = await taskIn(system);
    await ask('POST', `${path}/claim`, operator);
    const taken = await ask('POST', `${path}/assign`, { as: 'admin', body: { assignee: 'otto', group: 'claims' } });
    assert.partialDeepStrictEqual(taken.json, { state: 'claimed', assignee: 'otto', group: 'claims' });
    const handed = await ask('POST', `${path}/assign`, { token: otto, body: { group: 'night' } });
    assert.partialDeepStrictEqual(handed.json, { state: 'open', group: 'night' });
    const audit = (await ask('GET', '/audit?kind=task', operator)).json.items;
    assert.partialDeepStrictEqual(audit, [
      { action: 'assign', by: 'otto', target: id, before: { assignee: 'otto' }, after: { assignee: null, group: 'night' } },
      { action: 'assign', by: 'ada', target: id },
      { action: 'claim', by: 'olga', target: id, before: { state: 'open' }, after: { state: 'claimed', assignee: 'olga' } },
    ]);
  });

  test('a call that is repeated with its key changes nothing, and another call with that key is refused', async () => {
    const system = startApi();
    const { ask } = system;
    const { path } = await taskIn(system);
    const call = (text: string) => ask('POST', `${path}/comment`, { ...operator, headers: { 'idempotency-key': 'c-1' }, body: { text } });
    assert.equal((await call('one')).headers.get('idempotent-replayed'), null);
    const again = await call('one');
    assert.deepEqual([again.headers.get('idempotent-replayed'), again.json.comments.length], ['true', 1]);
    assert.deepEqual([(await call('two')).status, (await call('two')).json.code], [422, 'idempotency-key-reused']);
  });

  test('are listed by state, person, group, order, fingerprint and time, each page full', async () => {
    const system = startApi();
    const { ask, clock } = system;
    const tasks: Awaited<ReturnType<typeof taskIn>>[] = [];
    for (const key of ['a', 'b', 'c', 'd']) {
      tasks.push(await taskIn(system, key));
      await clock.advance(1000);
    }
    const [a, b, c, d] = tasks.map(({ id }) => id);
    await ask('POST', `/tasks/${b}/claim`, operator);
    await ask('POST', `/tasks/${c}/assign`, { token: otto, body: { assignee: 'otto', group: 'claims' } });
    await ask('POST', `/tasks/${d}/assign`, { token: otto, body: { group: 'night' } });

    assert.deepEqual(await idsIn(ask, ''), [a, b, c, d], 'the one that is due first comes first');
    assert.deepEqual(await idsIn(ask, '?state=open'), [a, d]);
    assert.deepEqual(await idsIn(ask, '?state=claimed'), [b, c]);
    assert.deepEqual(await idsIn(ask, '?assignee=none'), [a, d]);
    assert.deepEqual(await idsIn(ask, '?assignee=olga'), [b]);
    assert.deepEqual(await idsIn(ask, '?assignee=me'), [c]);
    assert.deepEqual(await idsIn(ask, '?assignee=me&state=open'), []);
    assert.deepEqual(await idsIn(ask, '?group=mine'), [c, d]);
    assert.deepEqual(await idsIn(ask, '?group=claims&assignee=none'), []);
    assert.deepEqual(await idsIn(ask, `?orderId=${tasks[1]?.orderId}`), [b]);
    assert.deepEqual(await idsIn(ask, '?kind=question'), []);
    const { fingerprint } = (await ask('GET', `/tasks/${a}`, operator)).json;
    assert.deepEqual(await idsIn(ask, `?fingerprint=${fingerprint}`), [a, b, c, d]);
    assert.deepEqual(await idsIn(ask, `?fingerprint=${fingerprint}&state=claimed&limit=1`), [b]);
    assert.deepEqual(await idsIn(ask, '?overdue=true'), []);
    await clock.advance(4 * 3_600_000 - 2500);
    assert.deepEqual(await idsIn(ask, '?overdue=true'), [a, b]);
    assert.deepEqual(await idsIn(ask, '?overdue=true&assignee=olga'), [b]);

    const pages: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await ask('GET', `/tasks?limit=1${cursor && `&cursor=${cursor}`}`, operator);
      pages.push(...json.items.map(({ id }: { id: string }) => id));
      cursor = json.next;
    }
    assert.deepEqual(pages, [a, b, c, d]);
  });

  test('are resolved with the instruction with which their order continues, and are listed as resolved', async () => {
    const system = startApi();
    const { ask } = system;
    const { id, orderId, path, etag } = await taskIn(system);
    await ask('POST', `${path}/claim`, operator);
    const body = { kind: 'terminate', reason: 'no stock' };
    assert.equal((await ask('POST', `/orders/${orderId}/instructions`, { ...operator, headers: { 'if-match': etag }, body })).status, 202);
    assert.partialDeepStrictEqual((await ask('GET', path, operator)).json, {
      state: 'resolved',
      assignee: 'olga',
      nextReminderAt: null,
      resolution: { by: 'olga', reason: 'no stock', instruction: { kind: 'terminate' } },
    });
    assert.deepEqual(await idsIn(ask, ''), []);
    for (const query of ['state=resolved', 'state=resolved&assignee=olga', `state=resolved&orderId=${orderId}`])
      assert.deepEqual(await idsIn(ask, `?${query}`), [id], query);
    const refused = await ask('POST', `${path}/claim`, { token: otto });
    assert.deepEqual([refused.status, refused.json.errors[0].detail], [409, 'olga has resolved the task, so it needs nobody any more.']);
  });

  test('F-153: are listed newest first when resolved, also for one fingerprint or order, and in pages', async () => {
    const system = startApi();
    const { ask, clock, answer, orderInError } = system;
    const decide = async (orderId: string, kind: string) => {
      await clock.advance(1000);
      const etag = (await ask('GET', `/orders/${orderId}`, operator)).headers.get('etag') ?? '';
      const body = { kind, reason: 'no stock' };
      assert.equal(
        (await ask('POST', `/orders/${orderId}/instructions`, { ...operator, headers: { 'if-match': etag }, body })).status,
        202,
      );
    };
    const orderId = await orderInError('a');
    const { json: order } = await ask('GET', `/orders/${orderId}`, operator);
    await decide(orderId, 'resubmit');
    await answer('payment', { status: 'failed', fault: { type: 'CardDeclined', class: 'unexpected', permanent: true, message: 'no' } });
    const other = await taskIn(system, 'b');
    await decide(other.orderId, 'terminate');
    await decide(orderId, 'terminate');
    const [first, second] = [1, 2].map((seq) => String(order.taskId).replace(/_\d+$/, `_${seq}`));
    const { fingerprint } = (await ask('GET', `/tasks/${first}`, operator)).json;
    const alike = `?state=resolved&fingerprint=${fingerprint}`;
    assert.deepEqual(await idsIn(ask, '?state=resolved'), [second, other.id, first]);
    assert.deepEqual(await idsIn(ask, alike), [second, other.id, first]);
    assert.deepEqual(await idsIn(ask, `?state=resolved&orderId=${orderId}`), [second, first]);
    for (const query of [alike, `?state=resolved&orderId=${orderId}`]) assert.deepEqual((await idsIn(ask, `${query}&limit=1`)).length, 1);
    assert.deepEqual(await idsIn(ask, `?state=resolved&orderId=${orderId}&limit=1`), [second]);
  });

  test('are resolved by operators and read by viewers; the refusal of an invalid call names the field, and nothing changes', async () => {
    const system = startApi();
    const { ask } = system;
    const { path } = await taskIn(system);
    for (const given of ['/tasks', path]) assert.equal((await ask('GET', given, { as: 'acme' })).status, 403);
    for (const action of ['claim', 'release']) assert.equal((await ask('POST', `${path}/${action}`, viewer)).status, 403);
    for (const id of ['tsk_abc_1', 'tsk_', 'nonsense', path.slice('/tasks/'.length).replace(/1$/, '7')]) {
      assert.equal((await ask('GET', `/tasks/${id}`, operator)).status, 404, id);
      assert.equal((await ask('POST', `/tasks/${id}/claim`, operator)).status, 404, id);
    }
    for (const query of [
      'state=done',
      'kind=odd',
      'overdue=false',
      'assignee=',
      `group=${'g'.repeat(65)}`,
      'limit=0',
      'cursor=abc',
      'sort=due',
    ])
      assert.equal((await ask('GET', `/tasks?${query}`, operator)).status, 400, query);
    for (const [action, body, pointer] of [
      ['assign', {}, ''],
      ['assign', { assignee: ' ' }, '/assignee'],
      ['assign', { group: 'g'.repeat(65) }, '/group'],
      ['assign', { to: 'otto' }, '/to'],
      ['comment', { text: '' }, '/text'],
      ['comment', { text: 'x'.repeat(1025) }, '/text'],
    ] as const) {
      const refused = await ask('POST', `${path}/${action}`, { ...operator, body });
      assert.deepEqual([refused.status, refused.json.errors[0].pointer], [422, pointer], JSON.stringify(body));
    }
    assert.equal((await ask('GET', path, operator)).json.rev, 1);
  });
});

describe('a task is resolved', () => {
  const resubmit = { instruction: { kind: 'resubmit' }, reason: 'the bank is back' };

  test('with an instruction to its order, in one write; a second person is refused', async () => {
    const system = startApi();
    const { ask, answer } = system;
    const { path, orderId, etag } = await taskIn(system);
    await ask('POST', `${path}/claim`, operator);
    const match = { 'if-match': etag };
    const others = await ask('POST', `${path}/resolve`, { token: otto, headers: match, body: resubmit });
    assert.deepEqual([others.status, others.json.code], [409, 'conflict']);
    assert.match(others.json.errors[0].detail, /^olga has claimed the task/);
    const resolved = await ask('POST', `${path}/resolve`, { ...operator, headers: match, body: resubmit });
    assert.partialDeepStrictEqual([resolved.status, resolved.json], [202, { orderId, processState: 'Processing' }]);
    assert.partialDeepStrictEqual((await ask('GET', path, operator)).json, {
      state: 'resolved',
      verified: 'running',
      resolution: { by: 'olga', reason: 'the bank is back', instruction: { kind: 'resubmit' } },
    });
    const again = await ask('POST', `${path}/resolve`, { ...operator, headers: match, body: resubmit });
    assert.deepEqual([again.status, again.json.errors[0].detail], [409, 'olga has resolved the task, so it needs nobody any more.']);
    await answer('payment', { status: 'succeeded', output: { chargeId: 'c-1', token: 't' } });
    assert.equal((await ask('GET', path, operator)).json.verified, 'passed');
  });

  test('once: a call that is repeated with its key gets the first answer, even though the task is resolved', async () => {
    const system = startApi();
    const { path, etag } = await taskIn(system);
    const call = () =>
      system.ask('POST', `${path}/resolve`, { ...operator, headers: { 'if-match': etag, 'idempotency-key': 'r-1' }, body: resubmit });
    const [first, again] = [await call(), await call()];
    assert.deepEqual([first.status, again.status, again.headers.get('idempotent-replayed')], [202, 202, 'true']);
  });

  test('only if the instruction is carried out: a refusal, an old ETag or a dry run changes nothing', async () => {
    const system = startApi();
    const { ask, stored } = system;
    const { path, etag } = await taskIn(system);
    const before = await stored();
    const checked = await ask('POST', `${path}/resolve`, { token: otto, body: { ...resubmit, dryRun: true } });
    assert.partialDeepStrictEqual(
      [checked.status, checked.json],
      [200, { feasible: true, effects: { requests: [{ path: 'order/charge' }] } }],
    );
    const infeasible = { instruction: { kind: 'resume-at', path: 'order/none', undoBetween: true }, reason: 'r' };
    for (const [headers, body, status, code] of [
      [{}, resubmit, 428, 'precondition-required'],
      [{ 'if-match': '"0"' }, resubmit, 412, 'stale'],
      [{ 'if-match': '7' }, resubmit, 400, 'bad-parameter'],
      [{ 'if-match': etag }, infeasible, 409, 'infeasible'],
      [{ 'if-match': etag }, { instruction: { kind: 'resubmit' } }, 422, 'invalid'],
      [{ 'if-match': etag }, { instruction: { kind: 'odd' }, reason: 'r' }, 422, 'invalid'],
      [{ 'if-match': etag }, { instruction: { kind: 'resubmit', reason: 'r' }, reason: 'r' }, 422, 'invalid'],
    ] as const) {
      const refused = await ask('POST', `${path}/resolve`, { ...operator, headers, body });
      assert.deepEqual([refused.status, refused.json.code], [status, code], JSON.stringify(body));
    }
    assert.equal(await stored(), before);
    assert.equal((await ask('GET', path, operator)).json.state, 'open');
  });
});
