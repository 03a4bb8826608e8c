import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../support/folders.ts';
import { raceOfProcesses } from './race.ts';

test('G11, S1: one of the hosts that claim an order at the same time, in one process or in several, gets it, and no other', async (t) => {
  const folder = temporaryFolder();
  t.after(() => folder.remove());
  const { wrong, notLinearizable, winners, losers } = await raceOfProcesses(folder.path, { orders: 20, processes: 2, racersEach: 4 });
  assert.deepEqual({ wrong, notLinearizable, winners }, { wrong: [], notLinearizable: [], winners: 20 });
  assert.ok(losers > 0, 'there was no race, because no host was too late');
});
