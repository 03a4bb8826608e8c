import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chanceOf } from '../simulation/random.ts';
import { type Life, lived } from './lost-orders.ts';
import type { Desk } from './support.ts';

/** `REBUILD_ORDERS=5000` tries so many random orders. */
const orders = Number(process.env['REBUILD_ORDERS'] ?? 60);

/** Replaces the stored instance. */
const replace = (desk: Desk, change: (blob: string) => string): void => {
  const { blob } = desk.database.prepare('SELECT blob FROM states').get() as { readonly blob: string };
  desk.database.prepare('UPDATE states SET blob = ?').run(change(blob));
};
/** Cuts the instance off somewhere behind its journal. */
const cutState = (desk: Desk, part: number): void =>
  replace(desk, (blob) => {
    const from = blob.indexOf('],"state":') + 1;
    return blob.slice(0, from + Math.floor(part * (blob.length - from)));
  });
/** Cuts the instance off within its journal. */
const cutJournal = (desk: Desk, part: number): void =>
  replace(desk, (blob) => blob.slice(0, Math.floor(part * blob.indexOf('],"state":'))));
const deleteState = ({ database }: Desk): void => void database.prepare('DELETE FROM states').run();
const caused = ({ requests, end, journal }: Life) => ({ requests, end, journal });

describe('F-160: a random order with loops, retries, secrets, pages and decisions of a rule', () => {
  test(`has the same requests and the same end as without the loss if its state is lost at a random moment (${orders} orders)`, async () => {
    const kinds = new Set<string>();
    let rebuilt = 0;
    let pages = 0;
    for (let seed = 1; seed <= orders; seed++) {
      const chance = chanceOf(seed + 1_000_003);
      const twin = await lived(seed);
      const turn = chance.between(0, twin.turns - 1);
      const part = chance.next();
      const other = await lived(seed, { turn, lose: (desk) => cutState(desk, part) });
      assert.deepEqual(caused(other), caused(twin), `seed ${seed}, lost at ${turn} of ${twin.turns}`);
      rebuilt += other.rebuilt;
      pages += other.pages > 0 ? 1 : 0;
      for (const kind of other.kinds) kinds.add(kind);
    }
    assert.ok(rebuilt >= orders * 0.8, `${rebuilt} rebuilt`);
    assert.ok(pages >= orders / 20, `${pages} with pages`);
    for (const kind of [
      'RuleActed',
      'RunFailed',
      'SignalReceived',
      'InstructionGiven',
      'DeadlineExpired',
      'OrderBlocked',
      'CancelRequested',
    ])
      assert.ok(kinds.has(kind), `no order had ${kind}`);
  });

  test(`is blocked, and requests nothing more, if lines of its journal are lost as well (${orders} orders)`, async () => {
    let stopped = 0;
    for (let seed = 1; seed <= orders; seed++) {
      const chance = chanceOf(seed + 2_000_003);
      const twin = await lived(seed);
      const turn = chance.between(0, twin.turns - 1);
      const part = chance.next();
      const isDeleted = chance.happens(0.5);
      const lose = (desk: Desk) => (isDeleted ? deleteState(desk) : cutJournal(desk, part));
      const other = await lived(seed, { turn, lose, andStops: true });
      assert.deepEqual(other.requests, twin.requests.slice(0, other.requests.length), `seed ${seed}`);
      // The last answers of a canceled order may still be on their way.
      if (!isDeleted && other.end.processState === 'Processed') continue;
      assert.partialDeepStrictEqual(other.end, { processState: 'Error', fault: 'RecordUnreadable', hasTask: true }, `seed ${seed}`);
      stopped += 1;
    }
    assert.ok(stopped >= orders * 0.9, `${stopped} stopped`);
  });
});
