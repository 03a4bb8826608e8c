import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { waitersMax } from '#api/waiting';
import { registerClient } from '#testing/world/register-client';
import { type CallOptions, goodOrder, goodSubmission, issuer, startApi, type Who } from './support.ts';

type Api = ReturnType<typeof startApi>;
type Try = readonly [method: string, path: string, options?: CallOptions];

const never = `ord_${'a'.repeat(52)}`;
const both = { ...goodSubmission, reference: 'order-1001' };

/** Returns an answer, byte for byte, without the two fields that name the call. */
async function bytesOf({ ask }: Api, [method, path, options = {}]: Try, as: Who = 'other'): Promise<string> {
  const { status, headers, text, json } = await ask(method, path, { as, ...options });
  const named = [json?.requestId, json?.instance].filter((each) => each !== undefined);
  const shown = [...headers].filter(([name]) => name !== 'x-request-id');
  return JSON.stringify([status, shown, named.reduce((rest, name) => rest.replace(JSON.stringify(name), '""'), text)]);
}

/** A system in which acme has a blocked, a running and a quarantined order, and the other client has one of its own. */
async function twoClients() {
  const api = startApi();
  const blocked = await api.orderInError('k1');
  const running = await api.submitOrder('k2', { body: both });
  const damaged = await api.submitOrder('k3');
  api.database.prepare("UPDATE states SET head = 'x' || head WHERE id = (SELECT id FROM orders WHERE orderId = ?)").run(damaged);
  const own = await api.submitOrder('k1', { as: 'other', body: both });
  return { ...api, theirs: { blocked, running, damaged }, own };
}

/** Every call of a client about one order. */
const callsOn = (orderId: string): readonly Try[] => [
  ['GET', `/orders/${orderId}`],
  ['HEAD', `/orders/${orderId}`],
  ['GET', `/orders/${orderId}`, { headers: { 'if-none-match': '*' } }],
  ['GET', `/orders/${orderId}?wait=25`],
  ['GET', `/orders/${orderId}?wait=25&until=change`, { headers: { 'if-none-match': '"1"' } }],
  ['GET', `/orders/${orderId}/history`],
  ['POST', `/orders/${orderId}/cancel`, { body: { reason: 'not mine' } }],
  ['POST', `/orders/${orderId}/cancel`, { body: { reason: 'not mine' }, headers: { 'idempotency-key': 'k' } }],
  ['POST', `/orders/${orderId}/signals/paid`, { body: {} }],
  ['POST', `/orders/${orderId}/signals/-`, { body: {} }],
];

describe('G20: an order of another client', () => {
  for (const state of ['blocked', 'running', 'damaged'] as const)
    test(`is answered to every call, byte for byte, like an order that never existed, while it is ${state}`, async () => {
      const api = await twoClients();
      const before = await api.stored().catch(() => '');
      for (const [index, nobodys] of callsOn(never).entries()) {
        const theirs = callsOn(api.theirs[state])[index] ?? assert.fail();
        const answer = await bytesOf(api, theirs);
        assert.equal(answer, await bytesOf(api, nobodys), theirs.slice(0, 2).join(' '));
        assert.match(answer, /^\[404,/);
      }
      assert.equal(await api.stored().catch(() => ''), before);
    });

  test('is answered with 404 at once, although the call would wait for it', async () => {
    const api = await twoClients();
    let sleeps = 0;
    const { sleep } = api.clock;
    api.clock.sleep = (...time) => {
      sleeps += 1;
      return sleep(...time);
    };
    assert.equal((await api.ask('GET', `/orders/${api.theirs.running}?wait=25`, { as: 'other' })).status, 404);
    assert.equal(sleeps, 0);
  });

  test('is in no list that the client requests, whatever its filters', async () => {
    const { ask, own } = await twoClients();
    const filters = [
      '',
      'reference=order-1001',
      'workflow=fulfil-order',
      'state=Processing',
      'state=Error',
      'fault=CardDeclined',
      'state=Processing&reference=order-1001',
      'submittedAfter=2020-01-01T00:00:00Z',
    ];
    for (const filter of filters) {
      const { status, json } = await ask('GET', `/orders?limit=100&${filter}`, { as: 'other' });
      const seen = json.items.map(({ orderId }: { orderId: string }) => orderId);
      assert.deepEqual([status, seen], [200, /Error|fault/.test(filter) ? [] : [own]], filter);
    }
    assert.equal((await ask('GET', '/orders?client=acme', { as: 'other' })).status, 400);
    const { json } = await ask('GET', '/orders?client=other', { as: 'viewer' });
    assert.deepEqual(
      json.items.map(({ orderId }: { orderId: string }) => orderId),
      [own],
    );
  });

  test('is not found by its idempotency key: two clients with the same key and reference have two orders', async () => {
    const { theirs, own, ask } = await twoClients();
    assert.ok(!Object.values(theirs).includes(own));
    const other = await ask('POST', '/orders', {
      as: 'other',
      headers: { 'idempotency-key': 'k2' },
      body: { order: { ...goodOrder, quantity: 9 } },
    });
    assert.deepEqual([other.status, other.headers.get('idempotent-replayed')], [202, null]);
  });
});

describe('G20: a cursor', () => {
  /** The cursors of acme and of an operator, by list. */
  async function withCursors() {
    const api = startApi();
    for (const key of ['k1', 'k2', 'k3']) await api.submitOrder(key);
    const orderId = await api.submitOrder('k1', { as: 'other' });
    await api.submitOrder('k2', { as: 'other' });
    const [first, second] = (await api.ask('GET', '/orders', { as: 'acme' })).json.items.map((each: { orderId: string }) => each.orderId);
    const next = async (path: string, as: Who): Promise<string> => (await api.ask('GET', path, { as })).json.next ?? assert.fail(path);
    const cursors = {
      orders: await next('/orders?limit=1', 'acme'),
      filtered: await next('/orders?limit=1&state=Processing', 'acme'),
      history: await next(`/orders/${first}/history?limit=1`, 'acme'),
      operator: await next('/orders?limit=1', 'operator'),
      channels: await next('/channels?limit=1', 'operator'),
      own: await next('/orders?limit=1', 'other'),
    };
    return { ...api, cursors, orderId, first, second };
  }

  test('is refused like an invented one if it belongs to another client, list, order or filter', async () => {
    const api = await withCursors();
    const { cursors, orderId, first, second } = api;
    const invented = (path: string): Try => ['GET', `${path}cursor=WzFd.${'A'.repeat(43)}`];
    const tries: readonly (readonly [as: Who, path: string, cursor: string])[] = [
      ...Object.entries(cursors).flatMap(([name, cursor]) =>
        name === 'own'
          ? []
          : ([
              ['other', '/orders?', cursor],
              ['other', `/orders/${orderId}/history?`, cursor],
            ] as const),
      ),
      ['acme', '/orders?', cursors.filtered],
      ['acme', '/orders?state=Processing&', cursors.orders],
      ['acme', '/orders?', cursors.history],
      ['acme', `/orders/${second}/history?`, cursors.history],
      ['acme', `/orders/${first}/history?`, cursors.orders],
      ['operator', '/orders?', cursors.orders],
      ['operator', '/channels?', cursors.operator],
      ['admin', '/clients?', cursors.channels],
      ['admin', '/orders?', cursors.operator],
    ];
    for (const [as, path, cursor] of tries) {
      const answer = await bytesOf(api, ['GET', `${path}cursor=${cursor}`], as);
      assert.equal(answer, await bytesOf(api, invented(path), as), `${as} ${path} ${cursor}`);
      assert.match(answer, /^\[400,/);
    }
    assert.equal((await api.ask('GET', `/orders?limit=1&cursor=${cursors.own}`, { as: 'other' })).status, 200);
  });
});

describe('G20: channels, dead letters and registrations', () => {
  test('a client gets the same 403 whether the channel, the dead letter or the client exists', async () => {
    const api = startApi();
    await registerClient(api.store, { id: 'acme', responseChannels: [], senders: [] });
    const message = await api.deadLetter({ queue: 'wake-ups', body: 'nonsense' });
    const reason = { reason: 'curious' };
    const pairs = (name: string, id: string, client: string): readonly Try[] => [
      ['GET', `/channels/${name}/dead-letters`],
      ['GET', `/channels/${name}/dead-letters/${id}`],
      ['DELETE', `/channels/${name}/dead-letters/${id}`],
      ['DELETE', `/channels/${name}/dead-letters/${id}`, { body: reason }],
      ['POST', `/channels/${name}/dead-letters/${id}/resubmit`, { body: reason }],
      ['POST', `/channels/${name}/close`, { body: reason }],
      ['POST', `/channels/${name}/open`, { body: {} }],
      ['PUT', `/clients/${client}`, { body: { responseChannels: [], senders: [], ...reason } }],
    ];
    const absent = pairs('absent', 'absent', 'absent');
    for (const [index, present] of pairs('wake-ups', message, 'acme').entries()) {
      const answer = await bytesOf(api, present, 'acme');
      assert.equal(answer, await bytesOf(api, absent[index] ?? assert.fail(), 'acme'), present.slice(0, 2).join(' '));
      assert.match(answer, /^\[403,/);
    }
  });

  test('a client that names the response channel of another client gets the same refusal as for one that does not exist', async () => {
    const api = startApi();
    await registerClient(api.store, { id: 'acme', responseChannels: ['redress-response-acme'], senders: [] });
    const naming = (responseChannel: string): Try => [
      'POST',
      '/orders',
      { body: { ...goodSubmission, responseChannel }, headers: { 'idempotency-key': 'k' } },
    ];
    const theirs = await bytesOf(api, naming('redress-response-acme'));
    assert.equal(theirs, await bytesOf(api, naming('redress-response-nobody')));
    assert.match(theirs, /^\[422,/);
    assert.equal((await api.ask('GET', '/orders', { as: 'other' })).json.items.length, 0);
  });
});

describe('G20: waiting calls', () => {
  /** Starts waiting calls, and resolves when each of them waits or is answered. */
  async function waiting(api: Api, calls: readonly { readonly as?: Who; readonly token?: string; readonly orderId: string }[]) {
    let sleeps = 0;
    const { sleep } = api.clock;
    api.clock.sleep = (...time) => {
      sleeps += 1;
      return sleep(...time);
    };
    const started = [];
    for (const { orderId, ...who } of calls) {
      const before = sleeps;
      const call = { isAnswered: false, answer: api.ask('GET', `/orders/${orderId}?wait=5`, who) };
      void call.answer.finally(() => (call.isAnswered = true));
      while (!call.isAnswered && sleeps === before) await turn();
      started.push(call);
    }
    return started;
  }

  test('waiting calls of one client take no place from the waiting calls of another client', async () => {
    const api = await twoClients();
    const many = Array.from({ length: waitersMax.perCaller + 2 }, () => ({ as: 'acme' as const, orderId: api.theirs.running }));
    const all = await waiting(api, [...many, { as: 'other', orderId: api.own }]);
    assert.deepEqual(
      all.map(({ isAnswered }) => isAnswered),
      [...Array(waitersMax.perCaller).fill(false), true, true, false],
    );
    await api.clock.advance(5_000);
    await Promise.all(all.map(({ answer }) => answer));
  });

  test('waiting calls of a client take no place from those of an operator of the same name', async () => {
    const api = startApi();
    const olga = await issuer.sign({ role: 'client', client: 'olga' });
    const { json } = await api.ask('POST', '/orders', { token: olga, headers: { 'idempotency-key': 'k' }, body: goodSubmission });
    const many = Array.from({ length: waitersMax.perCaller }, () => ({ token: olga, orderId: json.orderId }));
    const all = await waiting(api, [...many, { as: 'operator', orderId: json.orderId }]);
    assert.equal(all.at(-1)?.isAnswered, false);
    await api.clock.advance(5_000);
    await Promise.all(all.map(({ answer }) => answer));
  });
});
