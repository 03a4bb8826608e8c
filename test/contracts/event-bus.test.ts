import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Database, openDatabase } from '#adapters/sqlite/database';
import { sqlitePublisher } from '#adapters/sqlite/event-bus';
import { manualClock } from '#ports/clock';
import { openEventBridge } from '../adapters/aws/support.ts';
import { startEventBus } from '../support/emulators.ts';
import { dataFile, temporaryFolder } from '../support/folders.ts';
import { type OpenPublisher, publisherContract } from './event-bus.contract.ts';

function openOn(here: Database, there: Database, close: () => Promise<void>): OpenPublisher {
  const publisher = sqlitePublisher(here, manualClock());
  return {
    publisher,
    other: sqlitePublisher(there, manualClock()),
    arrived: async () => publisher.published(0, 1000).map(({ id, detailType, detail }) => ({ id, detailType, detail })),
    close,
  };
}

publisherContract('SQLite in memory', () => {
  const database = openDatabase(':memory:');
  return openOn(database, database, () => database.close());
});

publisherContract('SQLite in a file that two processes share', () => {
  const folder = temporaryFolder();
  const [here, there] = [openDatabase(dataFile(folder)), openDatabase(dataFile(folder))];
  return openOn(here, there, async () => {
    await here.close();
    await there.close();
    folder.remove();
  });
});

const bus = await startEventBus();
after(() => bus.stop());
publisherContract('EventBridge in its protocol', () => openEventBridge(bus));

test('a reader of the bus receives the next announcements after its position, in portions', async () => {
  const clock = manualClock();
  const publisher = sqlitePublisher(openDatabase(':memory:'), clock);
  for (const id of ['a', 'b', 'c']) {
    await publisher.publish([{ id, detailType: 'Order Processed', detail: {} }]);
    await clock.advance(1000);
  }
  const [first, ...rest] = publisher.published(0, 2);
  assert.deepEqual([first?.id, rest.map(({ id }) => id)], ['a', ['b']]);
  assert.deepEqual(
    publisher.published(rest.at(-1)?.seq ?? 0, 2).map(({ id, publishedAt }) => [id, publishedAt]),
    [['c', clock.now() - 1000]],
  );
});
