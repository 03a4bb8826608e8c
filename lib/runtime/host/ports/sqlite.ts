import { existsSync } from 'node:fs';
import { dataFile, openEmbedded } from '#adapters/sqlite/open';
import type { OpenPorts, OpenPortsOptions } from '#runtime/host/ports';
import { redriveIn, topologyOf } from '#runtime/topology';

/** Opens the embedded store, queues and event bus in one file of the data folder. */
export function openEmbeddedPorts({ app, config: { dataFolder }, clock }: OpenPortsOptions): OpenPorts {
  const isNew = !existsSync(dataFile(dataFolder));
  const { store, queues, publisher, keys, database, tidy } = openEmbedded(dataFolder, { clock, redriveOf: redriveIn(topologyOf(app)) });
  return {
    store,
    queues,
    publisher,
    keys,
    tidy,
    about: [['store, channels, announcements', `embedded (${dataFolder})`]],
    isHere: true,
    isNew,
    remedy: 'Restore the data folder from a backup, then start again.',
    onGone: (listener) => database.onGone(listener),
    close: () => database.close(),
  };
}
