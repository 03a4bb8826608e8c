import { openEmbedded } from '#adapters/sqlite/open';
import { systemClock } from '#ports/clock';

/** A process that writes so many times to one order, against whoever else does: `writer.ts FOLDER ORDER TIMES`. */
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
