import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '#ports/clock';
import { closeChannel, openChannel } from '#roles/channels/operate';
import { createWakeUps } from '#roles/supervisor/wake-ups';
import { alter, appOf, startStill, submitted, supervisorOf } from './support.ts';

const periodMs = 5000;

/** Returns how often each order is woken while no scheduler runs, so that all of them stay due. */
async function wokenWithin(minutes: number, orders: number, rememberedMax: number): Promise<readonly number[]> {
  const clock = manualClock();
  const times = new Map<string, number>();
  const send = async ({ orderId }: { orderId: string }) => void times.set(orderId, (times.get(orderId) ?? 0) + 1);
  const wakeUps = createWakeUps({ clock, send, rememberedMax });
  for (let passed = 0; passed < minutes * 60_000; passed += periodMs) {
    wakeUps.begin();
    for (let order = 0; order < orders; order++) await wakeUps.once({ orderId: `ord_${order}`, stepMs: 60_000 }, 'unclaimed@0');
    await clock.advance(periodMs);
  }
  return [...times.values()];
}

test('F-48, L8: with more due orders than the supervisor remembers, no order is woken again in each pass, and none is forgotten', async () => {
  const times = await wokenWithin(2, 100, 20);
  assert.equal(times.length, 100);
  assert.deepEqual(
    times.filter((each) => each < 3 || each > 5),
    [],
  );
});

test('F-48, L8: in a night without a scheduler each order is woken less than a hundred times, remembered or not', async () => {
  const times = await wokenWithin(8 * 60, 20, 10);
  assert.deepEqual(
    times.filter((each) => each < 40 || each > 100),
    [],
  );
});

test('F-48: the supervisor forgets orders that are no longer due, so that it can remember others', async () => {
  const clock = manualClock();
  const woken: string[] = [];
  const wakeUps = createWakeUps({ clock, send: async ({ orderId }: { orderId: string }) => void woken.push(orderId), rememberedMax: 1 });
  const orders = [
    ['ord_a', 70],
    ['ord_b', 2],
    ['ord_b', 2],
    ['ord_b', 2],
  ] as const;
  for (const [orderId, seconds] of orders) {
    wakeUps.begin();
    await wakeUps.once({ orderId, stepMs: 1000 }, 'timer@0');
    await clock.advance(seconds * 1000);
  }
  // An order without a slot would be woken twice a minute.
  assert.deepEqual(woken, ['ord_a', 'ord_b', 'ord_b', 'ord_b']);
});

test('F-48, F-108: while the wake-up channel is closed no wake-up is sent, and after opening the next pass sends it', async (t) => {
  const system = await startStill(
    t,
    appOf((step) => step('one')),
  );
  const { store, clock } = system;
  const orderId = await submitted(system);
  await alter(system, orderId, { nextDueFor: { kind: 'timer' }, nextDueAt: clock.now(), worklistAt: clock.now() });
  const change = () => ({ by: 'olga', reason: 'the scheduler is mended', now: clock.now() });
  assert.equal((await closeChannel('wake-ups', 'wake-ups', change(), store)).outcome, 'changed');

  const supervisor = supervisorOf(system);
  for (let pass = 0; pass < 20; pass++) {
    assert.equal((await supervisor.pass()).woken, 0);
    await clock.advance(60_000);
  }
  assert.deepEqual(system.messages('wake-ups'), []);

  await openChannel('wake-ups', { ...change(), canary: false }, store);
  await clock.advance(1);
  assert.equal((await supervisor.pass()).woken, 1);
});
