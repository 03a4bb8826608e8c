import { after } from 'node:test';
import { sqliteListing } from '#adapters/sqlite/listing';
import { type Embedded, openEmbedded } from '#adapters/sqlite/open';
import { sqliteStore } from '#adapters/sqlite/store';
import { manualClock } from '#ports/clock';
import { openDynamoDbStore } from '../adapters/aws/support.ts';
import { startDynoxide } from '../support/emulators.ts';
import { temporaryFolder } from '../support/folders.ts';
import { fewLooked } from './list.contract.ts';
import { type OpenStore, storeContract } from './store.contract.ts';

const damaging =
  ({ database }: Embedded): OpenStore['damage'] =>
  (orderId, part, text) =>
    database.write(() => {
      const change = {
        order: 'UPDATE orders SET record = ? WHERE orderId = ?',
        head: 'UPDATE states SET head = ? WHERE id = (SELECT id FROM orders WHERE orderId = ?)',
      }[part];
      database.prepare(change).run(text, orderId);
    });

const losing =
  ({ database }: Embedded): OpenStore['loseState'] =>
  (orderId) =>
    database.write(() => {
      database.prepare('DELETE FROM states WHERE id = (SELECT id FROM orders WHERE orderId = ?)').run(orderId);
    });

function openInMemory(writesAndSendsAtomically: boolean): OpenStore {
  const embedded = openEmbedded(':memory:', { clock: manualClock(), writesAndSendsAtomically });
  const { store, queues, publisher, database } = embedded;
  return {
    store,
    other: sqliteStore(database),
    few: { ...store, ...sqliteListing(database, fewLooked) },
    queues,
    announced: () => publisher.published(0, 100).map(({ id }) => id),
    damage: damaging(embedded),
    loseState: losing(embedded),
    close: () => database.close(),
  };
}

/** The two connections act as those of two processes. */
function openInFile(): OpenStore {
  const folder = temporaryFolder();
  const clock = manualClock();
  const [here, there] = [openEmbedded(folder.path, { clock }), openEmbedded(folder.path, { clock })];
  return {
    store: here.store,
    other: there.store,
    few: { ...here.store, ...sqliteListing(here.database, fewLooked) },
    queues: here.queues,
    announced: () => there.publisher.published(0, 100).map(({ id }) => id),
    damage: damaging(there),
    loseState: losing(there),
    async close() {
      await here.database.close();
      await there.database.close();
      folder.remove();
    },
  };
}

storeContract('SQLite in memory', () => openInMemory(true));
storeContract('SQLite in memory without an atomic outbox', () => openInMemory(false));
storeContract('SQLite in a file that two processes share', openInFile);

const dynoxide = await startDynoxide();
after(() => dynoxide.stop());
storeContract('DynamoDB on dynoxide', () => openDynamoDbStore(dynoxide));
