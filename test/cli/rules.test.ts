import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type RunningSystem, redress, runningSystem } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'redress-rules-'));
const app = fileURLToPath(new URL('../../examples/orders/app.ts', import.meta.url));
let system: RunningSystem;
before(async () => {
  system = await runningSystem();
});
after(async () => {
  await system.stop();
  rmSync(folder, { recursive: true });
});

const declined = {
  name: 'A declined card',
  object: { workflow: 'fulfil-order' },
  event: { kind: 'exception', type: 'CardDeclined' },
  condition: 'order.item == "tea"',
  action: { kind: 'retry', afterSeconds: 60 },
  mode: 'dry-run',
  priority: 1,
};

const fileWith = (name: string, value: object): string => {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(value));
  return file;
};
const run = (...args: readonly string[]) => system.redress([...args, '--json']);

test('an admin writes a rule from a file, compares it, and reads its versions', async () => {
  const file = fileWith('declined.json', declined);
  assert.equal((await run('rule', 'diff', 'declined', file)).exitCode, 1);
  const put = await run('rule', 'put', 'declined', file, '--reason', 'a trial');
  assert.deepEqual([put.exitCode, put.json.version, put.json.mode], [0, 1, 'dry-run']);
  assert.deepEqual([(await run('rule', 'diff', 'declined', file)).exitCode], [0]);
  const enforced = fileWith('enforced.json', { ...declined, mode: 'enforce' });
  const { json } = await run('rule', 'diff', 'declined', enforced);
  assert.deepEqual(json.differences, [{ field: 'mode', system: '"dry-run"', file: '"enforce"' }]);
  await run('rule', 'put', 'declined', enforced, '--reason', 'it was right');
  assert.equal((await run('rule', 'show', 'declined', '--rule-version', '1')).json.mode, 'dry-run');
  const history = (await run('rule', 'history', 'declined')).json.items;
  assert.deepEqual(
    history.map(({ version, reason }: { version: number; reason: string }) => [version, reason]),
    [
      [2, 'it was right'],
      [1, 'a trial'],
    ],
  );
  assert.deepEqual(
    (await run('rule', 'list')).json.items.map(({ id }: { id: string }) => id),
    ['declined'],
  );
});

test('a rule that does not fit the app is refused with exit code 1 and the wrong field, and an invalid rule id with exit code 2', async () => {
  const file = fileWith('wrong.json', { ...declined, condition: 'order.itm == "tea"' });
  const refused = await system.redress(['rule', 'put', 'wrong', file, '--reason', 'r']);
  assert.equal(refused.exitCode, 1);
  assert.match(refused.err, /order has no field "itm"\. Did you mean "item"\?/);
  assert.equal((await run('rule', 'show', 'No?')).exitCode, 2);
});

test('a folder of rules is pulled and pushed, and only changed rules are written', async () => {
  await run('rule', 'put', 'pulled', fileWith('pulled.json', declined), '--reason', 'r');
  const rules = join(folder, 'rules');
  mkdirSync(rules);
  assert.equal((await run('rule', 'pull', rules)).exitCode, 0);
  assert.ok(readdirSync(rules).includes('pulled.json'));
  const pulled = JSON.parse(readFileSync(join(rules, 'pulled.json'), 'utf8'));
  assert.deepEqual(pulled, { ...declined, timesPerOrder: 3 });
  writeFileSync(join(rules, 'pulled.json'), JSON.stringify({ ...pulled, priority: 9 }));
  const { json } = await run('rule', 'push', rules, '--reason', 'more urgent');
  assert.deepEqual([json.written, json.unchanged], [[{ id: 'pulled', version: 2 }], readdirSync(rules).length - 1]);
});

test('without a running system, a rule is checked against an app, and the decision of the rule about a situation is printed', async () => {
  const rule = { ...declined, condition: 'order.currency == "EUR"' };
  const good = await redress(['rule', 'test', fileWith('good.json', rule), app, '--json']);
  assert.deepEqual([good.exitCode, good.json], [0, { fits: true, problems: [] }]);
  const wrong = await redress(['rule', 'test', fileWith('bad.json', { ...rule, condition: 'order.currncy == "EUR"' }), app, '--json']);
  assert.deepEqual([wrong.exitCode, wrong.json.problems[0].pointer, wrong.json.problems[0].column], [1, '/condition', 7]);
  const situation = (currency: string) =>
    JSON.stringify({
      workflow: { name: 'fulfil-order' },
      event: { kind: 'exception', type: 'CardDeclined' },
      values: { order: { currency } },
    });
  const decided = async (currency: string) =>
    (await redress(['rule', 'test', join(folder, 'good.json'), app, '--situation', situation(currency), '--json'])).json;
  assert.deepEqual((await decided('EUR')).decisions[0].action, { kind: 'retry', afterSeconds: 60 });
  assert.deepEqual((await decided('USD')).candidates[0].why, 'condition-false');
});

test('a rule is compared with past exceptions, and the figures so far are printed after each page', async () => {
  const file = fileWith('tested.json', declined);
  const { exitCode, json } = await run('rule', 'back-test', file, '--days', '1');
  assert.deepEqual([exitCode, json], [0, { examined: 0, matched: 0, sameOutcome: 0, differs: 0, items: [] }]);
  assert.match(
    (await system.redress(['rule', 'back-test', file])).err,
    /0 examined, 0 matched: 0 with the same outcome, 0 with another one\./,
  );
});
