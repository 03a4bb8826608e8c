import { UnheardWorld } from '../../test/overload/unheard.ts';
import { type Figure, measured } from './figure.ts';

/**
 * G17: for a day the event bus accepts nothing, and the queues of clients are missing or deny access (X-27, X-28, S17, S18,
 * L3, L4).
 */
export const figure: Figure = {
  shows:
    'for 24 simulated hours no notification can be delivered: no alert is lost, orders continue, and people learn of broken client queues',
  async measure({ form, seed, progress }) {
    const seeds = form === 'full' ? 20 : 3;
    const shortfalls: string[] = [];
    const counts = { seeds, orders: 0, finished: 0, raised: 0, heard: 0, heardTwice: 0, undeliverable: 0, latestMs: 0, writes: 0 };
    for (let each = seed; each < seed + seeds; each++) {
      const { wrong, seed: _, latestMs, ...found } = await new UnheardWorld(each).run();
      shortfalls.push(...wrong.map((what) => `seed ${each}: ${what}`));
      for (const key of ['orders', 'finished', 'raised', 'heard', 'heardTwice', 'undeliverable', 'writes'] as const)
        counts[key] += found[key];
      counts.latestMs = Math.max(counts.latestMs, latestMs);
      progress(`${each - seed + 1} of ${seeds} worlds`);
    }
    // A run with hardly any notifications would show nothing.
    for (const [key, least] of [
      ['raised', 5],
      ['undeliverable', 3],
      ['finished', 4],
      ['heardTwice', 1],
    ] as const)
      if (counts[key] < least * seeds) shortfalls.push(`only ${counts[key]} ${key}`);
    return measured(shortfalls, counts);
  },
};
