import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { openEmbedded } from '#adapters/sqlite/open';
import { systemClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { startEventSource } from '#runtime/host/event-source';

/** A queue whose function ends the work on a message when the test says so. */
function slowFunction(context: TestContext, { concurrency, batchSize }: { readonly concurrency: number; readonly batchSize: number }) {
  const { queues, database } = openEmbedded(':memory:', { clock: systemClock });
  const begun = new Map<string, () => void>();
  const source = startEventSource(
    { queue: 'work', batchSize, concurrency, visibilityMs: 60_000, maxReceiveCount: 10 },
    async ({ Records }) => {
      await Promise.all(Records.map(({ body }) => new Promise<void>((resolve) => void begun.set(body, resolve))));
      return { batchItemFailures: [] };
    },
    {
      queues,
      clock: systemClock,
      telemetry: createTelemetry({ level: 'off' }),
      gate: { isShut: async () => false, onShut: () => undefined } as never,
      onFatal: (error) => assert.fail(String(error)),
    },
  );
  const end = () => {
    for (const done of begun.values()) done();
  };
  context.after(async () => {
    const stopped = source.stop();
    for (let turns = 0; turns < 50; turns++) {
      end();
      await turn();
    }
    await stopped;
    await database.close();
  });
  return {
    begun,
    /** Sends messages one by one, and waits until no more of them begins. */
    async arrive(...bodies: readonly string[]) {
      for (const body of bodies) {
        await queues.send([{ queue: 'work', body }]);
        for (let turns = 0; turns < 50 && !begun.has(body); turns++) await turn();
      }
    },
  };
}

test('A1: when every batch contains a slow message, the next message begins without waiting for it', async (context) => {
  const { begun, arrive } = slowFunction(context, { concurrency: 2, batchSize: 5 });
  await arrive('slow 1', 'slow 2', 'good');
  assert.deepEqual([...begun.keys()], ['slow 1', 'slow 2', 'good']);
});

test('F-35: no more messages are processed at the same time than fit into full batches', async (context) => {
  const { begun, arrive } = slowFunction(context, { concurrency: 2, batchSize: 3 });
  await arrive(...Array.from({ length: 9 }, (_, number) => `m${number}`));
  assert.equal(begun.size, 6);
});
