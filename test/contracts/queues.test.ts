import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openDatabase } from '#adapters/sqlite/database';
import { sqliteQueues } from '#adapters/sqlite/queues';
import { manualClock } from '#ports/clock';
import { openSqsChannels } from '../adapters/aws/support.ts';
import { startFauxqs } from '../support/emulators.ts';
import { dataFile, temporaryFolder } from '../support/folders.ts';
import { listOf } from '../support/workflows.ts';
import { channelContract, fairChannelContract, type OpenChannels } from './queues.contract.ts';

const inMemory: OpenChannels = (redriveOf) => {
  const clock = manualClock();
  const database = openDatabase(':memory:');
  return {
    clock,
    queues: sqliteQueues(database, clock, redriveOf),
    other: sqliteQueues(database, clock, redriveOf),
    close: () => database.close(),
  };
};
channelContract('SQLite in memory', inMemory);
fairChannelContract('SQLite in memory', inMemory);

const inSharedFile: OpenChannels = (redriveOf) => {
  const clock = manualClock();
  const folder = temporaryFolder();
  const [here, there] = [openDatabase(dataFile(folder)), openDatabase(dataFile(folder))];
  return {
    clock,
    queues: sqliteQueues(here, clock, redriveOf),
    other: sqliteQueues(there, clock, redriveOf),
    async close() {
      await here.close();
      await there.close();
      folder.remove();
    },
  };
};
channelContract('SQLite in a file that two processes share', inSharedFile);
fairChannelContract('SQLite in a file that two processes share', inSharedFile);

const fauxqs = await startFauxqs({ start: Date.UTC(2026, 0, 1) });
after(() => fauxqs.stop());
channelContract('SQS on fauxqs', openSqsChannels(fauxqs));

const waiting = { max: 10, visibilityMs: 30_000, waitMs: 20_000 };

test('a message arrives even if another write of the same commit fails', async () => {
  const database = openDatabase(':memory:');
  const queues = sqliteQueues(database, manualClock());
  const received = queues.receive('q', waiting);
  const sent = queues.send([{ queue: 'q', body: 'good' }]);
  const failed = database.write(() => assert.fail('the neighbour fails'));
  await assert.rejects(failed, /the neighbour fails/);
  await sent;
  assert.deepEqual(
    (await received).map(({ body, receiveCount }) => [body, receiveCount]),
    [['good', 1]],
  );
});

test('a message whose own send fails is not delivered', async () => {
  const database = openDatabase(':memory:');
  const queues = sqliteQueues(database, manualClock());
  const received = queues.receive('q', waiting);
  const sending = database.write(() => {
    queues.sendWithin([{ queue: 'q', body: 'never' }]);
    throw new Error('rolled back');
  });
  await assert.rejects(sending, /rolled back/);
  await queues.send([{ queue: 'q', body: 'good' }]);
  assert.deepEqual(
    (await received).map(({ body }) => body),
    ['good'],
  );
  assert.deepEqual(await queues.depth('q'), { visible: 0, inFlight: 1, delayed: 0, oldestAgeMs: 0 });
});

test('two messages for one receiver both arrive, if one was sent by this process and the other by another process', async () => {
  const folder = temporaryFolder();
  const [here, there] = [openDatabase(dataFile(folder)), openDatabase(dataFile(folder))];
  const looks: (() => void)[] = [];
  const clock = { now: () => 0, sleep: (ms: number) => new Promise<void>((resolve) => ms < 1000 && looks.push(resolve)) };
  const queues = sqliteQueues(here, clock);
  const received = queues.receive('q', waiting);
  await sqliteQueues(there, clock).send([{ queue: 'q', body: 'from there' }]);

  // The poll for foreign messages and our own send wait for the same commit.
  for (const look of looks.splice(0)) look();
  for (const _ of listOf(5, String)) await Promise.resolve();
  await queues.send([{ queue: 'q', body: 'from here' }]);

  const first = await received;
  const rest = await queues.receive('q', { ...waiting, waitMs: 0 });
  assert.deepEqual([...first, ...rest].map(({ body }) => body).toSorted(), ['from here', 'from there']);
  await here.close();
  await there.close();
  folder.remove();
});
