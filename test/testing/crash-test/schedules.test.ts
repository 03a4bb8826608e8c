import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEmbedded } from '#adapters/sqlite/open';
import { manualClock } from '#ports/clock';
import type { StateHead } from '#ports/records';
import type { Host } from '#testing/crash-test/host';
import { Schedules } from '#testing/crash-test/schedules';
import { Timeline } from '#testing/world/timeline';

const hour = 3_600_000;

/** Returns the hours in which a process sweeps over an order that is due at this time, without an entry in the worklist. */
async function sweptAt(head: Pick<StateHead, 'nextDueAt' | 'nextDueFor'>, untilHour: number): Promise<readonly number[]> {
  const timeline = new Timeline(0);
  const embedded = openEmbedded(':memory:', { clock: manualClock() });
  const hours: number[] = [];
  const host = {
    id: 'host-1',
    isDead: false,
    system: { config: { supervisorPeriodMs: 1000 } },
    supervise: async (name: string) => void (name === 'sweeper' && hours.push(timeline.now / hour)),
  } as unknown as Host;
  new Schedules({ timeline, embedded, heads: () => [head as StateHead] }).begin(host);
  while (!timeline.isEmpty && timeline.now < untilHour * hour) await timeline.step();
  await embedded.database.close();
  return hours;
}

test('a due order that the worklist has lost is swept in the next hour, and then in each hour while it stays due', async () => {
  assert.deepEqual(await sweptAt({ nextDueAt: 72.5 * hour, nextDueFor: { kind: 'timer' } }, 75), [1, 73, 74, 75]);
});

test('an order that waits only for a person or a signal is swept once', async () => {
  assert.deepEqual(await sweptAt({ nextDueAt: 5 * hour, nextDueFor: { kind: 'reminder' } }, 75), [1]);
  assert.deepEqual(await sweptAt({ nextDueAt: null, nextDueFor: null }, 75), [1]);
});
