import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqlitePublisher } from '#adapters/sqlite/event-bus';
import { createTelemetry } from '#ports/telemetry';
import { quarantine } from '#roles/repair/quarantine';
import { card, goodSubmission, startApi, type Who } from './support.ts';

const names = ['reserve', 'charge', 'ship', 'tell'];
/** The fields of an order in a list, for each role. */
const listedFields = [
  'orderId',
  'reference',
  'workflow',
  'processState',
  'outcome',
  'suspended',
  'completeBy',
  'submittedAt',
  'updatedAt',
  'restartedAs',
  'restartedFrom',
  'fault',
];
const internalFields = ['client', 'rev', 'epoch', 'lockedBy', 'heldBy', 'lockedUntil'];
const listedForOperators = [...listedFields, 'undoing', 'failureCount', 'remainingSeconds', 'waitsFor', ...internalFields];
const stepFields = [
  'path',
  'name',
  'activity',
  'agent',
  'operation',
  'waitsFor',
  'status',
  'result',
  'attempts',
  'completeBy',
  'startedAt',
  'closedAt',
  'output',
];
const fieldsOf = (value: object): readonly string[] => Object.keys(value).toSorted();

type Step = { [field: string]: unknown };

test('F-05, F-32, F-33, F-61: at any time between its submission and its end, an order shows every step in the sequence of its workflow', async () => {
  const { ask, submitOrder, answer, clock } = startApi();
  const orderId = await submitOrder('k');
  const look = async () => {
    const { json } = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
    return { ...json, course: json.steps.map(({ status, result, attempts }: Step) => `${status} ${result} ${attempts}`) };
  };
  const begun = await look();
  assert.deepEqual(
    begun.steps.map(({ name }: Step) => name),
    names,
  );
  assert.deepEqual(begun.course, ['Executing null 1', ...Array(3).fill('Initialized null 0')]);
  assert.deepEqual(begun.steps[0], {
    path: 'order/reserve',
    name: 'reserve',
    activity: 'step',
    agent: 'stock',
    operation: 'reserve',
    waitsFor: null,
    status: 'Executing',
    result: null,
    attempts: 1,
    completeBy: new Date(clock.now() + 10_000).toISOString(),
    startedAt: new Date(clock.now()).toISOString(),
    closedAt: null,
    input: { sku: 'tea' },
    output: null,
  });

  await clock.advance(1000);
  await answer('stock', { status: 'succeeded', output: { reservationId: 'r-1' } });
  const reserved = await look();
  assert.deepEqual(reserved.course, ['Closed Succeeded 1', 'Executing null 1', 'Initialized null 0', 'Initialized null 0']);
  assert.equal(reserved.steps[0].closedAt, new Date(clock.now()).toISOString());

  await answer('payment', { status: 'succeeded', output: { chargeId: 'c-1', token: 't' } });
  for (const _ of ['ship', 'tell']) await answer('shipping', { status: 'succeeded', output: {} });
  const done = await look();
  assert.deepEqual([done.processState, done.outcome, done.course], ['Processed', 'completed', Array(4).fill('Closed Succeeded 1')]);
});

test('a blocked order shows the reason and the failed step', async () => {
  const { ask, orderInError } = startApi();
  const { json } = await ask('GET', `/orders/${await orderInError('k')}`, { as: 'operator' });
  assert.equal(json.processState, 'Error');
  assert.deepEqual(json.fault, {
    type: 'CardDeclined',
    class: 'expected',
    message: 'declined: [secret]',
    permanent: true,
    source: 'order/charge',
    data: null,
  });
  assert.deepEqual(
    json.steps.map(({ status, result }: Step) => [status, result]),
    [
      ['Closed', 'Succeeded'],
      ['Faulting', null],
      ['Initialized', null],
      ['Initialized', null],
    ],
  );
});

test('F-08: a client sees its order without internals; operators and admins see its host, too', async () => {
  const { ask, orderInError } = startApi();
  const orderId = await orderInError('k');
  const client = await ask('GET', `/orders/${orderId}`, { as: 'acme' });
  assert.deepEqual(fieldsOf(client.json), [...listedFields, 'endBy', 'steps'].toSorted());
  assert.deepEqual(client.json.fault, { type: 'CardDeclined' });
  assert.deepEqual(client.json.steps, [
    { name: 'reserve', status: 'Closed', result: 'Succeeded' },
    { name: 'charge', status: 'Faulting', result: null },
    { name: 'ship', status: 'Initialized', result: null },
    { name: 'tell', status: 'Initialized', result: null },
  ]);
  for (const hidden of ['host-canary', 'declined', 'order/charge', 'payment', 'r-1']) assert.ok(!client.text.includes(hidden), hidden);

  for (const as of ['operator', 'admin'] as const) {
    const { json, text } = await ask('GET', `/orders/${orderId}`, { as });
    assert.deepEqual(fieldsOf(json), [...listedForOperators, 'endBy', 'steps', 'order', 'explanation', 'exceptionId', 'taskId'].toSorted());
    for (const step of json.steps)
      assert.deepEqual(fieldsOf(step), [...stepFields, ...(step.status === 'Faulting' ? ['input'] : [])].toSorted());
    assert.deepEqual(
      [json.client, json.lockedBy, json.heldBy, json.order],
      ['acme', 'host-canary', null, { sku: 'tea', quantity: 2, card: '[secret]' }],
    );
    assert.deepEqual(
      json.steps.map(({ output }: Step) => output),
      [{ reservationId: 'r-1' }, null, null, null],
    );
    assert.ok(!text.includes(card));
  }
});

test('operators get one sentence that explains the state of an order, always the same for one ETag', async () => {
  const { ask, submitOrder, orderInError, clock } = startApi();
  const blocked = await ask('GET', `/orders/${await orderInError('k')}`, { as: 'operator' });
  assert.equal(blocked.json.explanation, 'Blocked: CardDeclined at order/charge.');

  const orderId = await submitOrder('k2');
  const until = `${new Date(clock.now() + 10_000).toISOString().slice(0, 19)}Z`;
  const first = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
  assert.equal(first.json.explanation, `Waits for stock to answer order/reserve until ${until}.`);
  await clock.advance(5000);
  const later = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
  assert.deepEqual([later.headers.get('etag'), later.text], [first.headers.get('etag'), first.text]);
});

test('the explanation is null for a quarantined order, and for one that no longer fits its workflow', async () => {
  const { ask, submitOrder, store, queues, clock, database } = startApi();
  const explained = async (orderId: string) => (await ask('GET', `/orders/${orderId}`, { as: 'operator' })).json.explanation;
  const telemetry = createTelemetry({ level: 'off' });
  const quarantined = await submitOrder('k');
  await quarantine(quarantined, 'InvariantViolated', 'for a test', {
    store,
    queues,
    clock,
    telemetry,
    publisher: sqlitePublisher(database, clock),
  });
  assert.equal(await explained(quarantined), null);

  const changed = await submitOrder('k2');
  const { state } = (await store.load(changed)) ?? assert.fail('the order is gone');
  const blob = state.blob.replaceAll('order/reserve', 'order/renamed');
  await store.update({ ...state, rev: state.rev + 1, blob }, state, { messages: [], announcements: [] });
  assert.equal(await explained(changed), null);
});

test('a secret in the output of an operation is redacted for operators as well', async () => {
  const { ask, submitOrder, answer } = startApi();
  const orderId = await submitOrder('k');
  await answer('stock', { status: 'succeeded', output: { reservationId: `r ${card}` } });
  await answer('payment', { status: 'succeeded', output: { chargeId: 'c-1', token: 'token_canary' } });
  for (const path of [`/orders/${orderId}`, `/orders/${orderId}/history?limit=100`]) {
    const { text, status } = await ask('GET', path, { as: 'operator' });
    assert.equal(status, 200);
    assert.ok(text.includes('c-1') && !text.includes(card) && !text.includes('token_canary'), path);
  }
});

test('an order that has not changed since its ETag is answered with 304 and no body', async () => {
  const { ask, submitOrder, answer } = startApi();
  const orderId = await submitOrder('k');
  const first = await ask('GET', `/orders/${orderId}`, { as: 'acme' });
  assert.equal(first.headers.get('etag'), '"1"');
  for (const known of ['"1"', 'W/"1"', '"9", "1"', '*']) {
    const again = await ask('GET', `/orders/${orderId}`, { as: 'acme', headers: { 'if-none-match': known } });
    assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', '"1"'], known);
  }
  assert.equal((await ask('GET', `/orders/${orderId}`, { as: 'other', headers: { 'if-none-match': '*' } })).status, 404);
  await answer('stock', { status: 'succeeded', output: { reservationId: 'r-1' } });
  const changed = await ask('GET', `/orders/${orderId}`, { as: 'acme', headers: { 'if-none-match': '"1"' } });
  assert.deepEqual([changed.status, changed.headers.get('etag')], [200, '"2"']);
});

test('an order with paged-out journal shows the same steps and a history without gaps', async () => {
  const { ask, orderInError, store, answer } = startApi();
  const orderId = await orderInError('k');
  for (let turn = 0; turn < 12; turn++) {
    const { headers } = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
    await ask('POST', `/orders/${orderId}/instructions`, {
      as: 'operator',
      headers: { 'if-match': headers.get('etag') ?? '' },
      body: { kind: 'resubmit', reason: `turn ${turn}` },
    });
    await answer('payment', { status: 'failed', fault: { type: 'CardDeclined', class: 'unexpected', permanent: true, message: 'no' } });
  }
  assert.ok((await store.pages(orderId)).length > 1);
  const { json } = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
  assert.deepEqual(
    json.steps.map(({ status, attempts }: Step) => [status, attempts]),
    [
      ['Closed', 1],
      ['Faulting', 13],
      ['Initialized', 0],
      ['Initialized', 0],
    ],
  );
  assert.equal(json.steps[0].result, 'Succeeded');

  const seqs: number[] = [];
  let cursor = '';
  do {
    const { json } = await ask('GET', `/orders/${orderId}/history?limit=7${cursor}`, { as: 'operator' });
    seqs.push(...json.items.map(({ seq }: { seq: number }) => seq));
    cursor = json.next && `&cursor=${json.next}`;
  } while (cursor);
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => index + 1),
  );
});

test('the history shows an operator everything, and a client the same lines without internals', async () => {
  const { ask, orderInError } = startApi();
  const orderId = await orderInError('k');
  await ask('POST', `/orders/${orderId}/instructions`, {
    as: 'operator',
    headers: { 'if-match': '"3"' },
    body: { kind: 'resubmit', reason: 'reason_canary' },
  });
  const all = (await ask('GET', `/orders/${orderId}/history?limit=100`, { as: 'operator' })).json.items as Step[];
  assert.deepEqual(all.map(({ type }) => type).slice(0, 4), ['OrderSubmitted', 'OrderClaimed', 'ActivityStarted', 'StepRequested']);
  const given = all.find(({ type }) => type === 'InstructionGiven');
  assert.deepEqual([given?.['by'], given?.['kind'], given?.['reason']], ['olga', 'resubmit', 'reason_canary']);
  const requested = all.find(({ type }) => type === 'StepRequested');
  assert.equal(requested?.['completeBy'], '2026-01-01T00:00:10.000Z');
  assert.equal((all.find(({ type }) => type === 'OrderBlocked')?.['fault'] as Step | undefined)?.['type'], 'CardDeclined');

  const own = await ask('GET', `/orders/${orderId}/history?limit=100`, { as: 'acme' });
  assert.deepEqual(
    own.json.items.map(({ seq, type, path }: Step) => [seq, type, path]),
    all.map(({ seq, type, path }) => [seq, type, path]),
  );
  assert.deepEqual(own.json.items.find(({ type }: Step) => type === 'OrderBlocked')?.fault, { type: 'CardDeclined' });
  for (const hidden of ['requestId', 'output', '"by"', 'olga', 'reason_canary', 'epoch', 'r-1'])
    assert.ok(!own.text.includes(hidden), hidden);
});

test('F-168: the history names each request by its request id', async () => {
  const { ask, orderInError } = startApi();
  const orderId = await orderInError('k');
  const all = (await ask('GET', `/orders/${orderId}/history?limit=100`, { as: 'operator' })).json.items as Step[];
  const requests = all.flatMap(({ type, requestId }) => (type === 'StepRequested' ? [requestId] : []));
  assert.deepEqual(requests, [`${orderId}/order/reserve/1#1.1`, `${orderId}/order/charge/1#1.1`]);
  assert.ok(all.every((entry) => !('attemptId' in entry)));
});

test('F-08: a list shows the host of an order to operators, and never to a client', async () => {
  const { ask, submitOrder } = startApi();
  const orderId = await submitOrder('k');
  const own = await ask('GET', '/orders', { as: 'acme' });
  assert.equal(own.json.items[0].orderId, orderId);
  for (const hidden of ['lockedBy', 'heldBy', 'host-canary', 'epoch', '"client"']) assert.ok(!own.text.includes(hidden), hidden);
  const all = await ask('GET', '/orders', { as: 'operator' });
  assert.deepEqual([all.json.items[0].lockedBy, all.json.items[0].client], ['host-canary', 'acme']);
});

/** Ten orders, a second apart: the odd ones of acme, the even ones of another client. */
async function tenOrders() {
  const system = startApi();
  const ids: string[] = [];
  for (let number = 0; number < 10; number++) {
    ids.push(
      await system.submitOrder(`k${number}`, {
        as: number % 2 ? 'acme' : 'other',
        body: { order: { sku: 'tea', quantity: 1, card }, ...(number < 4 ? { reference: 'early' } : {}) },
      }),
    );
    await system.clock.advance(1000);
  }
  const submittedAt = async (number: number): Promise<string> =>
    (await system.ask('GET', `/orders/${ids[number]}`, { as: 'operator' })).json.submittedAt;
  return { ...system, ids, submittedAt };
}

test('a list of orders is newest first, in pages without gaps and repetitions', async () => {
  const { ask, ids, submitOrder } = await tenOrders();
  for (const [as, wanted] of [
    ['operator', ids],
    ['acme', ids.filter((_, index) => index % 2)],
  ] as [Who, string[]][]) {
    for (const limit of [1, 3, 5, 100]) {
      const seen: string[] = [];
      for (let next: string | null = ''; next !== null; ) {
        const { status, json } = await ask('GET', `/orders?limit=${limit}${next && `&cursor=${next}`}`, { as });
        assert.ok(status === 200 && json.items.length <= limit);
        seen.push(...json.items.map(({ orderId }: Step) => orderId));
        next = json.next;
        if (as === 'operator' && limit === 3 && seen.length === 3) await submitOrder('later');
      }
      const before = seen.filter((id) => wanted.includes(id));
      assert.deepEqual(before, wanted.toReversed(), `${as} ${limit}`);
    }
  }
  const { json } = await ask('GET', '/orders', { as: 'acme' });
  assert.deepEqual(fieldsOf(json.items[0]), listedFields.toSorted());
  assert.deepEqual(fieldsOf((await ask('GET', '/orders', { as: 'operator' })).json.items[0]), listedForOperators.toSorted());
});

test('a list of orders can be filtered', async () => {
  const { ask, ids, answer, submittedAt } = await tenOrders();
  await answer('stock', { status: 'succeeded', output: { reservationId: 'r' } });
  await answer('payment', { status: 'failed', fault: { type: 'CardDeclined', class: 'unexpected', permanent: true, message: 'no' } });
  const found = async (query: string) =>
    (await ask('GET', `/orders?limit=100&${query}`, { as: 'operator' })).json.items.map(({ orderId }: Step) =>
      ids.indexOf(orderId as string),
    );
  const third = await submittedAt(2);
  const inParis = encodeURIComponent(`${new Date(Date.parse(third) + 3_600_000).toISOString().slice(0, -1)}+01:00`);
  const narrowed: readonly [string, number[]][] = [
    ['state=Error', [0]],
    ['fault=CardDeclined', [0]],
    ['fault=Nothing', []],
    ['state=Processed', []],
    ['outcome=completed', []],
    ['workflow=fulfil-order&state=Error', [0]],
    ['workflow=another', []],
    ['reference=early', [3, 2, 1, 0]],
    ['reference=nothing', []],
    [`submittedBefore=${third}`, [1, 0]],
    [`submittedBefore=${inParis}`, [1, 0]],
    [`submittedAfter=${third}&reference=early`, [3]],
  ];
  for (const [query, wanted] of narrowed) assert.deepEqual(await found(query), wanted, query);
  assert.deepEqual((await ask('GET', '/orders?reference=early', { as: 'acme' })).json.items.length, 2);
});

test('an invalid parameter of a list is named, with the allowed values', async () => {
  const { ask } = startApi();
  const wrong: readonly [string, string, string?][] = [
    ['state=Done', '/state', 'Pending, Processing, Processed, Error'],
    ['state=', '/state'],
    ['state=constructor', '/state'],
    ['outcome=ok', '/outcome', 'completed, compensated, rejected, canceled, terminated'],
    ...['0', '101', '-1', '1.5', '1e1', '', 'x', '%20%205', '0x10', '9'.repeat(400)].map((limit): [string, string, string] => [
      `limit=${limit}`,
      '/limit',
      '1 to 100',
    ]),
    ...[
      '2026-02-30T00:00:00Z',
      '2025-02-29T00:00:00Z',
      'yesterday',
      '2026-01-01',
      '2026-01-01T24:01:00Z',
      '2026-01-01T00:00:00+02:00',
      '1767225600000',
    ].map((at): [string, string, string] => [`submittedAfter=${at}`, '/submittedAfter', '2026-01-31T12:00:00Z']),
    ['submittedBefore=2026-13-01T00:00:00Z', '/submittedBefore'],
    ['workflow=..', '/workflow'],
    ['fault=a%00', '/fault'],
    ['reference=', '/reference'],
    [`reference=${'r'.repeat(129)}`, '/reference'],
    ['nonsense=1', '/nonsense', 'state, outcome, workflow, fault, client, reference'],
    ['a[__proto__][x]=1', '', 'Unknown parameter'],
    ['__proto__=1', '/__proto__'],
    ['state=Error&state=Error', ''],
    ['reference=%ff', ''],
    ['cursor=', '/cursor'],
    ['cursor=abc.def', '/cursor'],
  ];
  for (const [query, pointer, possible] of wrong) {
    const { status, json } = await ask('GET', `/orders?${query}`, { as: 'acme' });
    assert.deepEqual([status, json.code, json.errors[0].pointer], [400, 'bad-parameter', pointer], query);
    if (possible) assert.ok(json.errors[0].detail.includes(possible), json.errors[0].detail);
  }
  for (const path of ['/orders/x?y=1', '/orders/x/history?state=Error', '/orders/x/history?limit=0', '/orders/x/history?cursor=junk'])
    assert.equal((await ask('GET', path, { as: 'operator' })).status, 400, path);
});

test('a cursor works only unchanged, for the same caller and the same list', async () => {
  const { ask, ids } = await tenOrders();
  const next = async (path: string, as: Who): Promise<string> => (await ask('GET', path, { as })).json.next;
  const cursor = await next('/orders?limit=2', 'acme');
  const refused = async (path: string, as: Who, why: string) => {
    const { status, json } = await ask('GET', path, { as });
    assert.deepEqual([status, json.code, json.errors?.[0].pointer], [400, 'bad-parameter', '/cursor'], why);
  };
  assert.equal((await ask('GET', `/orders?cursor=${cursor}`, { as: 'acme' })).json.items.length, 3);
  await refused(`/orders?cursor=${cursor}`, 'other', 'of another client');
  await refused(`/orders?cursor=${cursor}`, 'operator', 'of a client, by an operator');
  await refused(`/orders?cursor=${await next('/orders?limit=2', 'operator')}`, 'acme', 'of an operator');
  await refused(`/orders?cursor=${await next('/orders?limit=2', 'operator')}`, 'admin', 'of another person who may see as much');
  await refused(`/orders?state=Error&cursor=${cursor}`, 'acme', 'with another filter');
  await refused(`/orders/${ids[1]}/history?cursor=${cursor}`, 'acme', 'for another list');
  const history = await next(`/orders/${ids[1]}/history?limit=1`, 'acme');
  await refused(`/orders/${ids[3]}/history?cursor=${history}`, 'acme', 'of another order');
  for (let at = 0; at < cursor.length; at++) {
    const changed = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1);
    await refused(`/orders?cursor=${changed}`, 'acme', `changed at ${at}`);
  }
  for (const forged of [
    cursor.split('.')[0],
    `${cursor}.x`,
    `${cursor}=`,
    `.${cursor.split('.')[1]}`,
    `${Buffer.from('[9e15,"x"]').toString('base64url')}.${cursor.split('.')[1]}`,
  ])
    await refused(`/orders?cursor=${forged}`, 'acme', String(forged));
});

test('X-45: an operator sees whether the service of an agent is unavailable, since when, and when the next probe is due', async () => {
  const { ask, store, clock } = startApi();
  const openedAt = clock.now();
  const away = { agent: 'payment', rev: 1, openedAt, probeAt: openedAt + 5000, failedProbes: 0, closedAt: null };
  await store.putBreaker(away, 0);
  const breakers = async () => {
    const { json } = await ask('GET', '/channels', { as: 'operator' });
    return Object.fromEntries((json.items as { name: string; breaker: object }[]).map(({ name, breaker }) => [name, breaker]));
  };
  const awaySince = new Date(openedAt).toISOString();
  const nextProbeAt = new Date(openedAt + 5000).toISOString();
  assert.deepEqual((await breakers())['payment'], { phase: 'open', awaySince, failedProbes: 0, nextProbeAt });
  assert.deepEqual((await breakers())['shipping'], { phase: 'closed' });

  await clock.advance(60_000);
  await store.putBreaker({ ...away, rev: 2, closedAt: clock.now() }, 1);
  const backSince = new Date(clock.now()).toISOString();
  assert.deepEqual((await breakers())['payment'], { phase: 'half-open', awaySince, failedProbes: 0, backSince });
  await clock.advance(60_000);
  assert.deepEqual((await breakers())['payment'], { phase: 'closed' });
});

test('no answer and no status message shows a client the message or the data of a fault', async () => {
  const { ask, submitOrder, answer, queues } = startApi();
  await ask('PUT', '/clients/acme', { as: 'admin', body: { senders: [], responseChannels: ['redress-response-acme'], reason: 'new' } });
  const orderId = await submitOrder('k', { body: { ...goodSubmission, responseChannel: 'redress-response-acme' } });
  await answer('stock', { status: 'succeeded', output: { reservationId: 'r-1' } });
  const fault = {
    type: 'CardDeclined',
    class: 'unexpected',
    permanent: true,
    message: 'message_canary',
    data: { at: 'data_canary' },
  } as const;
  await answer('payment', { status: 'failed', fault });

  const seen: string[] = [];
  const read = async () => {
    for (const path of ['', '/history?limit=100', '?wait=1', '?wait=1&until=change', '/plan'])
      seen.push((await ask('GET', `/orders/${orderId}${path}`, { as: 'acme' })).text);
    for (const path of ['/orders', '/orders?fault=CardDeclined', '/orders?processState=Error'])
      seen.push((await ask('GET', path, { as: 'acme' })).text);
  };
  await read();
  const { headers, text } = await ask('GET', `/orders/${orderId}`, { as: 'operator' });
  assert.match(text, /message_canary.*data_canary/);
  await ask('POST', `/orders/${orderId}/instructions`, {
    as: 'operator',
    headers: { 'if-match': headers.get('etag') ?? '' },
    body: { kind: 'terminate', reason: 'reason_canary', confirm: orderId },
  });
  await read();
  const messages = await queues.receive('redress-response-acme', { max: 10, visibilityMs: 1000, waitMs: 0 });
  assert.ok(messages.length > 0);
  seen.push(...messages.map(({ body }) => body));
  assert.match(seen.join('\n'), /CardDeclined/);
  assert.deepEqual(
    seen.filter((each) => /_canary/.test(each.replaceAll('tok_canary_4711', ''))),
    [],
  );
});
