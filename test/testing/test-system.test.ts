import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import { manualClock, startSystem } from 'redress/testing';
import * as z from 'zod';

const Nothing = z.object({});
const shop = defineAgent('shop', {
  pack: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
  ship: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
});
const parcel = defineWorkflow('parcel', { version: 1, order: Nothing }, () => sequence(shop.pack({}), shop.ship({})));

test('F-58: a system is stopped in the same virtual time each time, whatever lies in its queues', async () => {
  const stops: number[] = [];
  for (let run = 0; run < 3; run++) {
    const clock = manualClock();
    const system = await startSystem(defineApp({ workflows: [parcel], agents: [shop] }), { clock, variables: { CLAIM_ON_SUBMIT: 'off' } });
    await system.submit({});
    const sentAt = new Date(clock.now()).toISOString();
    await system.channel.send([{ queue: 'wake-ups', body: JSON.stringify({ v: 1, type: 'wake-up', orderId: 'x', sentAt }), delayMs: 10 }]);
    await clock.advance(20);
    const before = clock.now();
    await system.stop();
    stops.push(clock.now() - before);
  }
  assert.deepEqual(new Set(stops).size, 1, `it took ${stops.join(', ')} ms`);
  assert.ok((stops[0] ?? 0) < 1000, `it took ${stops[0]} ms`);
});
