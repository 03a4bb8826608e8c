import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defineApp, defineConsumer, messageType, UnprocessableMessage } from 'redress';
import * as z from 'zod';
import { openEmbedded } from '#adapters/sqlite/open';
import { type ManualClock, manualClock } from '#ports/clock';
import { readConfig } from '#runtime/config';
import { type Consumed, consumeUntilIdle } from '#runtime/host/consume';
import { folderFor } from '../cli/support.ts';

const start = Date.parse('2026-03-02T09:00:00Z');
const idleMs = 500;
/** The run looks for messages twenty times a second, and its host needs moments to stop. */
const soonMs = 500;
const Report = z.object({ name: z.string() });

interface Ran {
  /** The end of the run; undefined if it is still at work. */
  readonly consumed?: Consumed;
  /** The names of the handled reports with the time of each, since the start of the run. */
  readonly handled: readonly (readonly [name: string, ms: number])[];
  readonly endedMs: number;
}

/** Runs a consumer of reports for at most two minutes of a clock that the test advances. Each message of `later` comes at its time. */
async function run(context: TestContext, first: readonly string[], later: { readonly [ms: number]: string } = {}): Promise<Ran> {
  const clock = manualClock(start);
  const folder = folderFor(context);
  const { queues, database } = openEmbedded(folder, { clock });
  context.after(() => database.close());
  const send = (name: string) =>
    queues.send([{ queue: 'reports-messages', body: JSON.stringify({ v: 1, type: 'report', body: { name } }) }]);
  for (const name of first) await send(name);

  const handled: (readonly [string, number])[] = [];
  const handle = ({ name }: z.output<typeof Report>, { delivery }: { readonly delivery: number }): void => {
    if (name === 'late' && delivery === 1) throw new UnprocessableMessage('Its employee is not known yet.');
    handled.push([name, clock.now() - start]);
  };
  const app = defineApp({
    workflows: [],
    agents: [],
    consumers: [defineConsumer('reports', { report: messageType({ body: Report, handle }) })],
  });
  const environment = { LOG_LEVEL: 'off' };
  const config = { ...readConfig(environment), dataFolder: folder };
  let consumed: Consumed | undefined;
  const running = consumeUntilIdle({ app, consumer: 'reports', config, environment, idleMs, clock }).then((end) => (consumed = end));
  await passedUntil(clock, async (ms) => {
    if (later[ms]) await send(later[ms]);
    return consumed !== undefined;
  });
  const endedMs = clock.now() - start;
  const ran = { handled, endedMs, ...(consumed ? { consumed } : {}) };
  // A run that does not end needs the clock, which stands still from now on.
  if (consumed) await running;
  return ran;
}

/** Advances the clock in steps until `isOver`, at most for two minutes. */
async function passedUntil(clock: ManualClock, isOver: (ms: number) => Promise<boolean>): Promise<void> {
  for (let ms = 0; ms <= 120_000 && !(await isOver(ms)); ms += 10) await clock.advance(10);
}

test('F-115: a consumer that runs alone ends soon after the idle time has passed without a message, and not before', async (context) => {
  const { consumed, handled, endedMs } = await run(context, ['one', 'two']);
  assert.deepEqual([consumed, handled.map(([name]) => name)], [{ ended: 'idle', deadLetters: 0 }, ['one', 'two']]);
  const idle = endedMs - (handled.at(-1)?.[1] ?? 0);
  assert.ok(idle >= idleMs && idle <= idleMs + soonMs, `it ended ${idle} ms after its last message`);
});

test('F-115: a message restarts the idle time of a consumer that runs alone', async (context) => {
  const { consumed, handled, endedMs } = await run(context, ['one'], { 400: 'two', 800: 'three' });
  assert.deepEqual([consumed?.ended, handled.map(([name]) => name)], ['idle', ['one', 'two', 'three']]);
  assert.ok(endedMs >= 800 + idleMs && endedMs <= 800 + idleMs + soonMs, `it ended after ${endedMs} ms`);
});

test('F-115, F-117: a consumer that runs alone waits for the redelivery of a message that has failed', async (context) => {
  const { consumed, handled, endedMs } = await run(context, ['late']);
  assert.deepEqual([consumed, handled.map(([name]) => name)], [{ ended: 'idle', deadLetters: 0 }, ['late']]);
  const idle = endedMs - (handled.at(-1)?.[1] ?? 0);
  assert.ok(idle >= idleMs && idle <= idleMs + soonMs, `it ended ${idle} ms after its last message`);
});
