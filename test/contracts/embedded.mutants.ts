import { openDatabase } from '#adapters/sqlite/database';
import { sqlitePublisher } from '#adapters/sqlite/event-bus';
import { sqliteQueues } from '#adapters/sqlite/queues';
import { manualClock } from '#ports/clock';
import { publisherContract } from './event-bus.contract.ts';
import { channelContract } from './queues.contract.ts';

/** The contracts of the embedded ports alone: no emulator is started. */
channelContract('SQLite in memory', (redriveOf) => {
  const clock = manualClock();
  const database = openDatabase(':memory:');
  const open = () => sqliteQueues(database, clock, redriveOf);
  return { clock, queues: open(), other: open(), close: () => database.close() };
});

publisherContract('SQLite in memory', () => {
  const database = openDatabase(':memory:');
  const publisher = sqlitePublisher(database, manualClock());
  return {
    publisher,
    other: sqlitePublisher(database, manualClock()),
    arrived: async () => publisher.published(0, 1000).map(({ id, detailType, detail }) => ({ id, detailType, detail })),
    close: () => database.close(),
  };
});
