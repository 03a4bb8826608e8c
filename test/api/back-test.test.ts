import assert from 'node:assert/strict';
import test from 'node:test';
import { startApi } from './support.ts';

type Api = ReturnType<typeof startApi>;

const rule = { event: { kind: 'exception', type: 'CardDeclined' }, action: { kind: 'retry' } };
const backTest = ({ ask }: Api, body: object) => ask('POST', '/rules/back-test', { as: 'operator', body });

test('an operator learns in pages what a rule would have done about the exceptions of the last days', async () => {
  const api = startApi();
  for (const key of ['a', 'b', 'c']) await api.orderInError(key);
  const { status, json } = await backTest(api, { rule, days: 7, limit: 2 });
  assert.equal(status, 200);
  const { items, next, ...figures } = json;
  assert.deepEqual(figures, { examined: 2, matched: 2, sameOutcome: 0, differs: 2 });
  assert.deepEqual([items[0].wouldHave, items[0].whatHappened], [{ kind: 'retry', afterSeconds: 0 }, null]);
  const rest = (await backTest(api, { rule, days: 7, limit: 2, cursor: next })).json;
  assert.deepEqual([rest.examined, rest.next], [1, null]);
  assert.equal((await backTest(api, { rule: { ...rule, priority: 1 }, days: 7, cursor: next })).status, 400);
});

test('a back-test refuses a rule that does not fit or is not about exceptions, and names the wrong field', async () => {
  const api = startApi();
  const refused = async (more: object) => (await backTest(api, { rule: { ...rule, ...more }, days: 1 })).json.errors;
  const [wrong] = await refused({ object: { workflow: 'fulfil-order' }, condition: 'order.skuu == "tea"' });
  assert.deepEqual([wrong.pointer, wrong.column], ['/rule/condition', 7]);
  const [late] = await refused({ event: { kind: 'step-late' } });
  assert.equal(late.pointer, '/rule/event/kind');
  assert.match(
    late.detail,
    /A back-test examines exceptions, and cannot tell of events of kind step-late\. Use the mode dry-run instead\./,
  );
  assert.equal((await backTest(api, { rule, days: 31 })).status, 422);
});
