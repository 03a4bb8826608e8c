import { commandFor, simulate } from '../../../test/simulation/simulate.ts';
import type { Broken, Memory } from './measurement.ts';

/** The result of one world. */
export interface WorldPlayed {
  readonly counts: { readonly [what: string]: number };
  readonly broken: readonly Broken[];
}

/** A message of a worker: a world has ended, or all requested worlds have. */
export type Message = { readonly played: WorldPlayed } | { readonly memory: Memory };

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

/** Plays worlds in one process for hours: a leak shows in its memory. */
async function play(first: number, runs: number): Promise<void> {
  const send = (message: Message) => void process.send?.(message);
  for (let seed = first; seed < first + runs; seed++) send({ played: await playOne(seed) });
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  send({ memory: { rssMb: Math.round(rss / 1e6), heapMb: Math.round(heapUsed / 1e6) } });
}

process.on('message', ({ first, runs }: { first: number; runs: number }) => void play(first, runs));
process.on('disconnect', () => process.exit());
