import { World } from './world.ts';

/** Counts by name. */
export type Counts = { [name: string]: number };

/** What came of several runs. */
export interface Summary {
  runs: number;
  events: number;
  simulatedMs: number;
  /** Runs in which a law was broken, each with what is wrong and the command that plays it again. */
  readonly broken: { readonly seed: number; readonly wrong: readonly string[]; readonly again: string }[];
  /** What happened to orders. */
  readonly happened: Counts;
  /** By kind of fault, then by place: how often it really hit. */
  readonly landed: { [kind: string]: Counts };
}

export const commandFor = (seed: number): string => `npm run simulate -- --seed ${seed} --runs 1 --trace`;

/** Runs one world for each seed, from the first on. */
export async function simulate(first: number, runs: number, story?: (line: string) => void): Promise<Summary> {
  const summary: Summary = { runs, events: 0, simulatedMs: 0, broken: [], happened: {}, landed: {} };
  for (let seed = first; seed < first + runs; seed++) {
    const { broken, events, simulatedMs, happened, landed } = await new World(seed, story).run();
    if (broken.length > 0) summary.broken.push({ seed, wrong: broken, again: commandFor(seed) });
    summary.events += events;
    summary.simulatedMs += simulatedMs;
    for (const [what, count] of happened) add(summary.happened, what, count);
    for (const [cell, count] of landed) {
      const [kind = '', site = ''] = cell.split(' @ ');
      add((summary.landed[kind] ??= {}), site, count);
    }
  }
  return summary;
}

const add = (counts: Counts, name: string, by: number): void => {
  counts[name] = (counts[name] ?? 0) + by;
};

/** How often a kind of fault hit, wherever. */
export const hits = ({ landed }: Summary, kind: string): number => Object.values(landed[kind] ?? {}).reduce((sum, count) => sum + count, 0);
