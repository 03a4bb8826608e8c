import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startApi } from './support.ts';

const config = { defaultWorkflow: 'fulfil-order', notify: { hosts: ['hooks.example'] } };
const hook = { kind: 'webhook', url: 'https://hooks.example/services/canary', credential: 'OPS_SECRET' };
const body = { members: ['ann', 'ann', 'olga'], notify: [hook], reason: 'the team of claims' };

describe('a group of people', () => {
  test('F-153: is written by an admin, and the audit has it without the path of its address', async () => {
    const { ask } = startApi({ config });
    const made = await ask('PUT', '/groups/claims', { as: 'admin', body });
    assert.equal(made.status, 201, JSON.stringify(made.json));
    assert.partialDeepStrictEqual(made.json, { name: 'claims', rev: 1, members: ['ann', 'olga'], notify: [hook], mutedUntil: null });
    assert.equal((await ask('PUT', '/groups/claims', { as: 'operator', body })).status, 403);
    const { items } = (await ask('GET', '/audit?kind=group', { as: 'admin' })).json;
    assert.partialDeepStrictEqual(items, [{ target: 'claims', action: 'create', reason: 'the team of claims', before: null }]);
    assert.ok(!JSON.stringify(items).includes('canary'));
  });

  test('shows the path of its addresses to admins alone', async () => {
    const { ask } = startApi({ config });
    await ask('PUT', '/groups/claims', { as: 'admin', body });
    const urlFor = async (as: 'admin' | 'operator') => (await ask('GET', '/groups', { as })).json.items[0].notify[0].url;
    assert.deepEqual([await urlFor('admin'), await urlFor('operator')], [hook.url, 'https://hooks.example/…']);
  });

  test('is refused with an address that the deployment does not allow, and with a mute of more than 30 days', async () => {
    const { ask } = startApi({ config });
    const pointersOf = async (more: object) => {
      const { status, json } = await ask('PUT', '/groups/claims', { as: 'admin', body: { ...body, ...more } });
      return [status, json.errors?.map(({ pointer }: { pointer: string }) => pointer)];
    };
    assert.deepEqual(await pointersOf({ notify: [{ ...hook, url: 'https://other.example/' }] }), [422, ['/notify/0/url']]);
    assert.deepEqual(await pointersOf({ notify: [{ ...hook, url: 'http://hooks.example/' }] }), [422, ['/notify/0/url']]);
    assert.deepEqual(await pointersOf({ mutedUntil: '2999-01-01T00:00:00Z' }), [422, ['/mutedUntil']]);
    assert.deepEqual((await ask('GET', '/groups', { as: 'admin' })).json.items, []);
  });

  test('is not overwritten by an admin who has read an older version', async () => {
    const { ask } = startApi({ config });
    const put = (headers = {}) => ask('PUT', '/groups/claims', { as: 'admin', body, headers });
    await put();
    assert.deepEqual([(await put({ 'if-match': '"1"' })).status, (await put({ 'if-match': '"1"' })).status], [200, 412]);
  });
});

describe('a group of alike exceptions', () => {
  async function withExceptions() {
    const api = startApi({ config });
    await api.orderInError('k');
    const groups = async () => (await api.ask('GET', '/exceptions/groups', { as: 'viewer' })).json.items;
    const [{ fingerprint }] = await groups();
    const note = (more: object, as: 'operator' | 'viewer' = 'operator') =>
      api.ask('PATCH', `/exceptions/groups/${fingerprint}`, { as, body: more });
    return { ...api, groups, fingerprint, note };
  }

  test('is muted until a time, and has a note and a ticket, each until somebody changes it', async () => {
    const { note, groups, clock } = await withExceptions();
    const mutedUntil = new Date(clock.now() + 3_600_000).toISOString();
    assert.equal((await note({ mutedUntil, note: 'The bank is away.' })).status, 200);
    assert.equal((await note({ ticket: 'https://tickets.example/7', reason: 'found it' })).status, 200);
    assert.partialDeepStrictEqual(await groups(), [{ mutedUntil, note: 'The bank is away.', ticket: 'https://tickets.example/7' }]);
    await note({ mutedUntil: null, note: null });
    const [group] = await groups();
    assert.deepEqual([group.mutedUntil, group.note, group.ticket], [undefined, undefined, 'https://tickets.example/7']);
  });

  test('has its changes in the audit, with the values before and after', async () => {
    const { note, ask, fingerprint } = await withExceptions();
    await note({ note: 'first', reason: 'seen' });
    await note({ note: 'second' });
    const { items } = (await ask('GET', '/audit?kind=group', { as: 'admin' })).json;
    assert.deepEqual(
      items.map(({ target, before, after }: { target: string; before: { note: string } | null; after: { note: string } }) => [
        target,
        before?.note,
        after.note,
      ]),
      [
        [fingerprint, 'first', 'second'],
        [fingerprint, undefined, 'first'],
      ],
    );
  });

  test('is not changed by a viewer, by an empty change, or with a ticket that is not an address', async () => {
    const { note, ask } = await withExceptions();
    assert.equal((await note({ note: 'x' }, 'viewer')).status, 403);
    assert.equal((await note({})).status, 422);
    assert.equal((await note({ ticket: 'javascript:alert(1)' })).status, 422);
    assert.equal((await ask('PATCH', '/exceptions/groups/none', { as: 'operator', body: { note: 'x' } })).status, 404);
  });
});
