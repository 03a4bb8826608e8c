import { commitLoaded } from '../../dev/tools/commit.ts';
import { type Cell, cellOf } from './faults.ts';
import { type Outcome, World } from './world.ts';

/** Counts by name. */
export type Counts = { [name: string]: number };

/** The sum of the results of several runs. */
export interface Summary {
  runs: number;
  /** Steps of the timeline. */
  events: number;
  /** Completed calls of ports and services, by place. */
  readonly io: Counts;
  simulatedMs: number;
  /** The lowest number of fault kinds in a run. */
  leastKindsOn: number;
  /** Runs that broke a law, each with the violations and the command that plays it again. */
  readonly broken: { readonly seed: number; readonly wrong: readonly string[]; readonly again: string }[];
  /** Events of orders, by name. */
  readonly happened: Counts;
  /** Hits of faults by cell; `cellOf` parses the key. */
  readonly landed: Counts;
}

/** The commit is a comment for the shell: a seed gives the same run only at the same commit. */
export const commandFor = (seed: number): string => `npm run simulate -- --seed ${seed} --runs 1 --trace # at ${commitLoaded()}`;

/** Returns an empty summary, to which others are added. */
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

interface Watching {
  /** Receives each line of the story of each world. */
  readonly story?: ((line: string) => void) | undefined;
  /** Called after each world. */
  readonly onPlayed?: ((summary: Summary) => void) | undefined;
}

/** Runs one world for each seed, beginning with `first`. */
export async function simulate(first: number, runs: number, { story, onPlayed }: Watching = {}): Promise<Summary> {
  const summary = nothing();
  // Read the commit now: if a law is broken hours later, the checkout may have changed.
  commitLoaded();
  for (let seed = first; seed < first + runs; seed++) {
    addOutcome(summary, await new World(seed, story).run());
    onPlayed?.(summary);
  }
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

/** Adds the summary of other runs. */
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

/** Returns the number of hits in the matching cells. */
export const hits = ({ landed }: Summary, isMeant: (cell: Cell) => boolean): number =>
  Object.entries(landed).reduce((sum, [key, count]) => (isMeant(cellOf(key)) ? sum + count : sum), 0);

/** Adds up cells into a table of rows and columns. */
export function tableOf(
  { landed }: Summary,
  row: (cell: Cell) => string,
  column: (cell: Cell) => string,
): { readonly [row: string]: Counts } {
  const table: { [row: string]: Counts } = {};
  for (const [key, count] of Object.entries(landed)) add((table[row(cellOf(key))] ??= {}), column(cellOf(key)), count);
  return table;
}
