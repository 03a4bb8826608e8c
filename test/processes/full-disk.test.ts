import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sequence } from 'redress';
import { StoreUnavailableError } from '#ports/errors';
import { appOf, journalOf, start, submitted } from '../roles/supervisor/support.ts';
import { site } from './support.ts';

test('X-49, S9, S22: a full disk refuses orders without lasting damage: with free space again all orders continue', async (t) => {
  const { data } = site(t);
  const system = await start(
    t,
    appOf((step) => sequence(step('one'), step('two'), step('three'))),
    { dataFolder: data },
  );
  const limit = (pages: number) => system.database.prepare(`PRAGMA max_page_count = ${pages}`).get();
  const accepted: string[] = [];
  let refused = 0;
  const submit = async (key: string): Promise<void> => {
    try {
      const answer = await system.submit({}, { key, reference: 'x'.repeat(500) });
      if (answer.outcome === 'accepted') accepted.push(answer.order.orderId);
    } catch (error) {
      assert.ok(error instanceof StoreUnavailableError && !error.fatal, String(error));
      refused += 1;
    }
  };
  limit(40);
  for (let index = 0; index < 60; index++) {
    await submit(`key-${index}`);
    await system.clock.advance(200);
  }
  assert.ok(accepted.length > 0 && refused > 0, `${accepted.length} accepted, ${refused} refused`);

  limit(100_000);
  await submit('afterwards');
  await system.clock.advance(60_000);
  assert.deepEqual(new Set(await Promise.all(accepted.map(async (id) => (await system.state(id)).processState))), new Set(['Processed']));
  assert.equal((await system.store.list({}, undefined, 1000)).items.length, accepted.length);
});

for (const writesAndSendsAtomically of [true, false]) {
  test(`F-159, X-49: a journal page that does not fit on the disk is not lost, because the write of its order fails, too (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, async (t) => {
    const system = await start(
      t,
      appOf((step) => sequence(...Array.from({ length: 12 }, (_, index) => step(`step-${index}`)))),
      { writesAndSendsAtomically },
    );
    const execute = (sql: string) => system.database.write(() => void system.database.prepare(sql).run());
    await execute("CREATE TRIGGER full BEFORE INSERT ON pages BEGIN SELECT RAISE(ABORT, 'no room'); END");
    const orderId = await submitted(system);
    await system.clock.advance(20_000);
    assert.equal((await system.state(orderId)).processState, 'Processing');
    await execute('DROP TRIGGER full');
    await system.clock.advance(60_000);
    assert.equal((await system.state(orderId)).processState, 'Processed');
    const seqs = (await journalOf(system, orderId)).map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => index + 1),
    );
  });
}
