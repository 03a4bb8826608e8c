import { openEmbedded } from '#adapters/sqlite/open';
import { systemClock } from '#ports/clock';

/**
 * A process that writes to one order, the given number of times, against other processes: `writer.ts FOLDER ORDER
 * TIMES`.
 */
const [folder = '', orderId = '', times = '0'] = process.argv.slice(2);
const { store, database } = openEmbedded(folder, { clock: systemClock });
for (let written = 0; written < Number(times); ) {
  const loaded = await store.load(orderId);
  if (!loaded) throw new Error(`There is no order ${orderId}.`);
  const { state } = loaded;
  const write = await store.update({ ...state, rev: state.rev + 1, failureCount: state.failureCount + 1 }, state, {
    messages: [],
    announcements: [],
  });
  if (write.outcome === 'written') written += 1;
}
await database.close();
