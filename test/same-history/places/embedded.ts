import { openEmbedded } from '#adapters/sqlite/open';
import type { JsonObject } from '#core/data/json';
import { redriveIn, topologyOf } from '#runtime/topology';
import { registerClient } from '#testing/world/register-client';
import type { OpenPlace } from '../place.ts';
import { openHosted } from './hosted.ts';
import { SteppedClock } from './stepped-clock.ts';

/** The embedded local system on one machine, with its data in a folder or in memory. */
export const openEmbeddedPlace =
  (folder = ':memory:'): OpenPlace =>
  async (played) => {
    const clock = new SteppedClock(Date.UTC(2026, 0, 1));
    const { store, queues, publisher, database } = openEmbedded(folder, { clock, redriveOf: redriveIn(topologyOf(played.app)) });
    await registerClient(store, { id: 'client', responseChannels: [played.responses], senders: ['local'] });
    const select = database.prepare('SELECT body FROM messages WHERE queue = ? ORDER BY id');
    return openHosted(
      {
        clock,
        store,
        queues,
        publisher,
        bodies: async (queue) => select.all(queue).map((row) => JSON.parse((row as { body: string }).body) as JsonObject),
        announced: () => publisher.published(0, 10_000),
        close: () => database.close(),
      },
      played,
    );
  };
