import { commandFor, simulate } from '../../../test/simulation/simulate.ts';
import type { Broken, Memory } from './thing.ts';

/** What became of one world. */
export interface WorldPlayed {
  readonly counts: { readonly [what: string]: number };
  readonly broken: readonly Broken[];
}

/** What a worker says: a world has ended, or all that it was asked for. */
export type Told = { readonly played: WorldPlayed } | { readonly memory: Memory };

async function playOne(seed: number): Promise<WorldPlayed> {
  try {
    const { happened, events, simulatedMs, broken } = await simulate(seed, 1);
    return {
      counts: { worlds: 1, orders: happened['orders'] ?? 0, events, 'simulated hours': simulatedMs / 3_600_000 },
      broken: broken.map(({ wrong, again }) => ({ wrong: wrong.join('; '), again })),
    };
  } catch (error) {
    const wrong = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { counts: { worlds: 1 }, broken: [{ wrong, again: commandFor(seed) }] };
  }
}

/** Plays worlds in one process for hours: what it does not give back shows in its memory. */
async function play(first: number, runs: number): Promise<void> {
  const tell = (told: Told) => void process.send?.(told);
  for (let seed = first; seed < first + runs; seed++) tell({ played: await playOne(seed) });
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  tell({ memory: { rssMb: Math.round(rss / 1e6), heapMb: Math.round(heapUsed / 1e6) } });
}

process.on('message', ({ first, runs }: { first: number; runs: number }) => void play(first, runs));
process.on('disconnect', () => process.exit());
