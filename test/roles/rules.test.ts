import assert from 'node:assert/strict';
import test from 'node:test';
import { openDatabase } from '#adapters/sqlite/database';
import { sqliteStore } from '#adapters/sqlite/store';
import { decide } from '#core/rules/decide';
import { manualClock } from '#ports/clock';
import { collections, type Documents } from '#ports/documents';
import { createRuleCounter, ruleCounts } from '#roles/rules/counts';
import { noteOutcome } from '#roles/rules/outcomes';
import { createRules } from '#roles/rules/rules';
import { rule, situation, world } from '../support/rules.ts';

const definitions = { rules: [], workflows: world.workflows, catalog: world.catalog ?? { schemasOf: () => undefined } };
const change = (expected?: number) => ({ by: 'ada', reason: 'a bad day', expected });

function setting() {
  const clock = manualClock();
  const store = sqliteStore(openDatabase(':memory:'), () => []);
  const counted = { pointers: 0 };
  const document: Documents['document'] = (collection, id) => {
    if (collection === collections.rules) counted.pointers++;
    return store.document(collection, id);
  };
  const process = () => createRules({ store: { ...store, document }, clock, definitions });
  return { clock, store, counted, process, advance: (ms: number) => clock.advance(ms) };
}

const decides = async (rules: ReturnType<typeof createRules>) =>
  decide(await rules.current(), situation()).decisions.map(({ ruleId }) => ruleId);

test('a change of a rule takes effect in every process within five seconds, also in a process that was frozen', async () => {
  const { process, advance } = setting();
  const [api, scheduler] = [process(), process()];
  assert.deepEqual(await decides(scheduler), []);
  await api.put(rule(), change());
  assert.deepEqual(await decides(api), ['declined']);
  await advance(5000);
  assert.deepEqual(await decides(scheduler), ['declined']);
  await api.put(rule({ mode: 'off' }), change(1));
  await advance(3_600_000);
  assert.deepEqual(await decides(scheduler), []);
});

test('a process reads the pointer to the rules once in five seconds, and compiles unchanged rules once', async () => {
  const { process, advance, counted } = setting();
  const rules = process();
  const sets = await Promise.all(Array.from({ length: 50 }, () => rules.current()));
  assert.deepEqual([new Set(sets).size, counted.pointers], [1, 1]);
  await process().put(rule(), change());
  const before = counted.pointers;
  await advance(5000);
  const [first] = [await rules.current(), await rules.current()];
  await advance(5000);
  assert.equal(await rules.current(), first);
  assert.equal(counted.pointers - before, 2);
});

test('one of two admins who change a rule at the same time is refused, and changes of two rules are both kept', async () => {
  const { process } = setting();
  const [one, other] = [process(), process()];
  await one.put(rule(), change());
  const both = await Promise.all([one.put(rule({ priority: 1 }), change(1)), other.put(rule({ priority: 2 }), change(1))]);
  assert.deepEqual(both.map(({ outcome }) => outcome).toSorted(), ['stale', 'written']);
  await Promise.all(['a', 'b', 'c'].map((id, index) => (index % 2 ? one : other).put(rule({ id }), change())));
  assert.deepEqual(
    (await one.list()).map(({ id, version }) => [id, version]),
    [
      ['a', 1],
      ['b', 1],
      ['c', 1],
      ['declined', 2],
    ],
  );
});

test('a megabyte of rules fits into parts of less than 350 KB', async () => {
  const { process, store } = setting();
  const rules = process();
  for (let index = 0; index < 60; index++) await rules.put(rule({ id: `r-${index}`, name: 'ä'.repeat(7_000), mode: 'off' }), change());
  const pointer = await store.document(collections.rules, 'CURRENT');
  const parts = await store.documents(collections.ruleSet(String(pointer?.content['hash'])), undefined, 100);
  assert.ok(parts.length > 1);
  for (const { content } of parts) assert.ok(Buffer.byteLength(JSON.stringify(content)) < 350 * 1024);
  assert.equal((await process().list()).length, 60);
});

test('the figures of a rule are added up over processes, every ten seconds', async () => {
  const { clock, store, advance } = setting();
  const counters = [0.1, 0.9, 0.1].map((value) => createRuleCounter({ store, clock, random: () => value }));
  for (const counter of counters) {
    counter.count('declined', 'hits', 'acted');
    await counter.flushIfDue();
  }
  assert.equal((await ruleCounts(store))('declined').hits, 0);
  await advance(10_000);
  for (const counter of counters) await counter.flushIfDue();
  const { lastHitAt, ...counts } = (await ruleCounts(store))('declined');
  assert.deepEqual(counts, { hits: 3, acted: 3, passed: 0, failedAgain: 0 });
  assert.equal(lastHitAt, clock.now() - 10_000);
});

test('a late result of an older version of a rule does not replace the results of the present version', async () => {
  const { process, store } = setting();
  const rules = process();
  await rules.put(rule(), change());
  const noted = async (version: number) => noteOutcome({ store, rules }, { ruleId: 'declined', version, hasPassed: false });
  await rules.put({ ...rule(), timesPerOrder: 5 }, change(1));
  for (let index = 0; index < 19; index++) assert.equal(await noted(2), false);
  assert.equal(await noted(1), false);
  assert.equal(await noted(2), true);
});

test('a rule changes to dry-run automatically, one time, when half of its last 20 actions have failed again', async () => {
  const { process, store } = setting();
  const rules = process();
  await rules.put(rule(), change());
  const noted = async (hasPassed: boolean) => noteOutcome({ store, rules }, { ruleId: 'declined', version: 1, hasPassed });
  for (let index = 0; index < 19; index++) assert.equal(await noted(index % 2 === 0), false);
  assert.equal(await noted(false), true);
  assert.equal(await noted(false), false);
  const [version] = await rules.versions('declined', undefined, 1);
  assert.deepEqual([version?.by, version?.rule?.mode, version?.version], ['engine', 'dry-run', 2]);
});
