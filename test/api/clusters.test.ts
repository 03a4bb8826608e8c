import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Document } from '#ports/documents';
import { exceptionKey } from '#roles/exceptions/records';
import { appOf, parcels } from '../roles/evolution/shop.ts';
import { startApi } from './support.ts';

const operator = { as: 'operator' } as const;
const done = { status: 'succeeded', output: {} } as const;
const fault = { type: 'NoPrinter', class: 'expected', permanent: true, message: 'no printer' } as const;
const clusters = '/workflows/parcel/clusters';

/** Parcels without a label. Each of the first `passed` has gone on without it, and the others wait for a person. */
async function parcelsWithout(count: number, passed: number, app = appOf()) {
  const api = startApi({ app });
  const { ask } = api;
  for (let index = 0; index < count; index++) {
    const order = { depot: 'south', printer: false, kilos: index };
    const orderId = await api.submitOrder(`k-${index}`, { body: { workflow: 'parcel', order } });
    await api.answer('depot', done);
    await api.answer('depot', { status: 'failed', fault });
    if (index >= passed) continue;
    const etag = (await ask('GET', `/orders/${orderId}`, operator)).headers.get('etag') ?? '';
    const body = { kind: 'skip', output: {}, effect: 'none', reason: 'by pen' };
    await ask('POST', `/orders/${orderId}/instructions`, { ...operator, headers: { 'if-match': etag }, body });
    await api.answer('depot', done);
  }
  const check = (body: object, version = 1) => ask('POST', `/workflows/parcel/${version}/check`, { ...operator, body });
  return { ...api, check };
}

/** The record of an order's first exception. */
const keyOf = (orderId: string): readonly [string, string] => {
  const { collection, id } = exceptionKey(orderId, 1);
  return [collection, id];
};

describe('the clusters of a workflow', () => {
  test('F-161: list alike exceptions with what people did about them, and with a proposal as a diff and as code', async () => {
    const { ask } = await parcelsWithout(7, 5);
    const { status, json } = await ask('GET', clusters, { as: 'viewer' });
    assert.deepEqual([status, json.items.length, json.next], [200, 1, null]);
    const [{ step, type, count, open, resolutions, proposal }] = json.items;
    assert.deepEqual([step, type, count, open], ['order/label', 'NoPrinter', 7, 2]);
    const instruction = { kind: 'skip', effect: 'none', output: {} };
    assert.deepEqual(resolutions, [{ instruction, used: 5, passed: 5, failedAgain: 0, failedOtherwise: 0 }]);
    assert.deepEqual(proposal.drawnFrom, { instruction, used: 5, passed: 5 });
    assert.deepEqual([proposal.kind, proposal.path, proposal.version], ['handler', 'order/label', 2]);
    assert.match(proposal.code, /^scope\('label-if-possible', label\)\.on\(NoPrinter, /);
    assert.ok(proposal.diff.some((line: string) => line.startsWith('+ ')));
  });

  test('F-161: say why there is no proposal, and belong to one workflow', async () => {
    const { ask } = await parcelsWithout(5, 4, appOf({ ...parcels, name: 'letter' }));
    assert.deepEqual((await ask('GET', '/workflows/letter/clusters', operator)).json.items, []);
    const [cluster] = (await ask('GET', clusters, operator)).json.items;
    assert.deepEqual([cluster.proposal, cluster.resolutions[0].used], [null, 4]);
    assert.match(cluster.why, /^A proposal needs 5 verified uses of one instruction/);
    const shop = startApi();
    await shop.orderInError('k');
    assert.equal((await shop.ask('GET', '/workflows/fulfil-order/clusters', operator)).json.items.length, 1);
    assert.equal((await shop.ask('GET', clusters, operator)).status, 404, 'the app has no such workflow');
  });

  test('F-161: have their orders replayed on their proposal in pages, each order once', async () => {
    const { ask, check, stored } = await parcelsWithout(7, 5);
    const before = await stored();
    const [{ fingerprint }] = (await ask('GET', clusters, operator)).json.items;
    const first = (await check({ cluster: fingerprint, limit: 4 })).json;
    const second = (await check({ cluster: fingerprint, limit: 4, cursor: first.next })).json;
    assert.deepEqual([first.checked, second.checked, second.next], [4, 3, null]);
    assert.deepEqual([first.fit + second.fit, first.assumed + second.assumed], [7, 2]);
    const ids = [...first.items, ...second.items].map(({ orderId }: { orderId: string }) => orderId);
    assert.equal(new Set(ids).size, 7);
    assert.equal(await stored(), before);
  });

  test('F-161: have an order once, however often it failed, and no order that a rule has helped', async () => {
    const api = await parcelsWithout(6, 5);
    const { ask, check } = api;
    const [{ fingerprint }] = (await ask('GET', clusters, operator)).json.items;
    const [open] = (await ask('GET', '/orders?state=Error', operator)).json.items;
    const etag = (await ask('GET', `/orders/${open.orderId}`, operator)).headers.get('etag') ?? '';
    const body = { kind: 'resubmit', reason: 'another try' };
    await ask('POST', `/orders/${open.orderId}/instructions`, { ...operator, headers: { 'if-match': etag }, body });
    await api.answer('depot', { status: 'failed', fault });
    assert.equal((await ask('GET', clusters, operator)).json.items[0].count, 7);
    assert.equal((await check({ cluster: fingerprint })).json.checked, 6);
    const document = (await api.store.document(...keyOf(open.orderId))) as Document;
    const handling = { by: 'rule', id: 'r', control: 'ready', at: 1 } as const;
    const put = { ...document, rev: document.rev + 1, content: { ...document.content, handling } };
    assert.equal((await api.store.putDocument(put, document.rev)).outcome, 'written');
    assert.equal((await check({ cluster: fingerprint })).json.checked, 5);
  });

  test('F-161: have no orders replayed if the call is invalid: the refusal names the field and the remedy, and nothing changes', async () => {
    const { ask, check, stored } = await parcelsWithout(5, 4);
    const before = await stored();
    const [{ fingerprint }] = (await ask('GET', clusters, operator)).json.items;
    const problem = async (body: object, version?: number) => {
      const { status, json } = await check(body, version);
      return `${status} ${json.errors?.[0]?.pointer} ${json.errors?.[0]?.detail}`;
    };
    assert.match(
      await problem({ cluster: 'none' }),
      /^422 \/cluster parcel has had no such exception .* GET \/workflows\/parcel\/clusters lists/,
    );
    assert.match(await problem({ cluster: fingerprint }), /^422 \/cluster There is no proposal to replay on\. A proposal needs 5/);
    assert.match(await problem({ cluster: '' }), /^422 \/cluster /);
    assert.match(await problem({ cluster: fingerprint, cursor: 'x' }), /^4(22|00) /);
    assert.equal((await check({ cluster: fingerprint }, 9)).status, 404);
    for (const query of ['limit=0', 'limit=21', 'limit=x', 'cursor=x', 'other=1'])
      assert.equal((await ask('GET', `${clusters}?${query}`, operator)).status, 400, query);
    assert.equal(await stored(), before);
  });

  test('F-161: have proposals for the newest version alone: a replay on an older version is refused', async () => {
    const { ask, check } = await parcelsWithout(5, 5, appOf({ ...parcels, version: 2 }));
    const [{ fingerprint, proposal }] = (await ask('GET', clusters, operator)).json.items;
    assert.equal(proposal.version, 3);
    const { status, json } = await check({ cluster: fingerprint });
    assert.deepEqual([status, json.errors[0].detail], [422, 'A proposal changes the newest version: check parcel@2 instead of parcel@1.']);
    assert.equal((await check({ cluster: fingerprint }, 2)).json.fit, 5);
  });
});
