import { openEmbedded } from '#adapters/sqlite/open';
import { systemClock } from '#ports/clock';
import { hostOn, raceFor } from './race.ts';
import { noting, type RecordOperation } from './record.ts';

/**
 * A process with some racers in it: see `raceOfProcesses`. Arguments: the data folder, the number of racers, and their
 * name.
 */
const [folder = '', count = '1', name = ''] = process.argv.slice(2);
const operations: RecordOperation[] = [];
const embedded = Array.from({ length: Number(count) }, () => openEmbedded(folder, { clock: systemClock }));
const hosts = embedded.map(({ store }, index) =>
  hostOn(
    noting(store, (operation) => operations.push(operation)),
    `${name}-${index}`,
  ),
);

process.on('message', async (message: { readonly from: number; readonly to: number } | 'end') => {
  if (message !== 'end') {
    await raceFor(hosts, message.from, message.to);
    process.send?.('raced');
    return;
  }
  for (const { database } of embedded) await database.close();
  process.send?.(operations, undefined, undefined, () => process.disconnect());
});
process.send?.('ready');
