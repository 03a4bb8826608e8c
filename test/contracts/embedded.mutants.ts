import { sqliteChannel } from '../../lib/channels/sqlite.ts';
import { manualClock } from '../../lib/clock.ts';
import { sqlitePublisher } from '../../lib/publishers/sqlite.ts';
import { openDatabase } from '../../lib/stores/sqlite/database.ts';
import { channelContract } from './channel.contract.ts';
import { publisherContract } from './publisher.contract.ts';

/** The contracts of the embedded ports alone: no emulator is started. */
channelContract('SQLite in memory', (redriveOf) => {
  const clock = manualClock();
  const database = openDatabase(':memory:');
  const open = () => sqliteChannel(database, clock, redriveOf);
  return { clock, channel: open(), other: open(), close: () => database.close() };
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
