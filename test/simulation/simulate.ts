import { commitLoaded } from '../../dev/tools/commit.ts';
import { type Cell, cellOf } from './faults.ts';
import { type Outcome, World } from './world.ts';

/** Counts by name. */
export type Counts = { [name: string]: number };

/** What came of several runs. */
export interface Summary {
  runs: number;
  /** Steps of the timeline. */
  events: number;
  /** Calls of ports and services that were carried out, by place. */
  readonly io: Counts;
  simulatedMs: number;
  /** The fewest kinds of faults that any of them had. */
  leastKindsOn: number;
  /** Runs in which a law was broken, each with what is wrong and the command that plays it again. */
  readonly broken: { readonly seed: number; readonly wrong: readonly string[]; readonly again: string }[];
  /** What happened to orders. */
  readonly happened: Counts;
  /** By cell, as text that `cellOf` reads: how often a fault really hit. */
  readonly landed: Counts;
}

/** What is behind it is a comment for the shell: a seed leads to its run only at the commit at which it was seen. */
export const commandFor = (seed: number): string => `npm run simulate -- --seed ${seed} --runs 1 --trace # at ${commitLoaded()}`;

/** Nothing yet: what other summaries are added to. */
export const nothing = (): Summary => ({
  runs: 0,
  events: 0,
  io: {},
  simulatedMs: 0,
  leastKindsOn: Number.MAX_SAFE_INTEGER,
  broken: [],
  happened: {},
  landed: {},
});

/** Runs one world for each seed, from the first on. */
export async function simulate(first: number, runs: number, story?: (line: string) => void): Promise<Summary> {
  const summary = nothing();
  // Now, not when a law is broken: hours may have passed by then.
  commitLoaded();
  for (let seed = first; seed < first + runs; seed++) addOutcome(summary, await new World(seed, story).run());
  return summary;
}

function addOutcome(summary: Summary, { seed, broken, events, io, simulatedMs, happened, landed, kindsOn }: Outcome): void {
  if (broken.length > 0) summary.broken.push({ seed, wrong: broken, again: commandFor(seed) });
  summary.runs += 1;
  summary.events += events;
  summary.simulatedMs += simulatedMs;
  summary.leastKindsOn = Math.min(summary.leastKindsOn, kindsOn);
  for (const [site, count] of io) add(summary.io, site, count);
  for (const [what, count] of happened) add(summary.happened, what, count);
  for (const [cell, count] of landed) add(summary.landed, cell, count);
}

/** Adds what came of other runs. */
export function addSummary(sum: Summary, other: Summary): void {
  sum.runs += other.runs;
  sum.events += other.events;
  sum.simulatedMs += other.simulatedMs;
  sum.leastKindsOn = Math.min(sum.leastKindsOn, other.leastKindsOn);
  sum.broken.push(...other.broken);
  addCounts(sum.io, other.io);
  addCounts(sum.happened, other.happened);
  addCounts(sum.landed, other.landed);
}

const addCounts = (sum: Counts, counts: Counts): void => {
  for (const [name, count] of Object.entries(counts)) add(sum, name, count);
};

const add = (counts: Counts, name: string, by: number): void => {
  counts[name] = (counts[name] ?? 0) + by;
};

export const total = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** How often faults of some cells hit. */
export const hits = ({ landed }: Summary, isMeant: (cell: Cell) => boolean): number =>
  Object.entries(landed).reduce((sum, [key, count]) => (isMeant(cellOf(key)) ? sum + count : sum), 0);

/** Counts of cells, added up in rows and columns. */
export function tableOf(
  { landed }: Summary,
  row: (cell: Cell) => string,
  column: (cell: Cell) => string,
): { readonly [row: string]: Counts } {
  const table: { [row: string]: Counts } = {};
  for (const [key, count] of Object.entries(landed)) add((table[row(cellOf(key))] ??= {}), column(cellOf(key)), count);
  return table;
}
