import type { CrashPoints, Played } from '#testing/crash-test/enumerate';
import { type Crash, crashText } from '#testing/crash-test/points';
import { crashPointsOf, definitions } from './definitions.ts';

/** Some crashes of one definition, single ones or pairs: number `first`, and each `every`-th one after it. */
export interface Piece {
  readonly name: string;
  readonly writesAndSendsAtomically: boolean;
  readonly twice: boolean;
  readonly first: number;
  readonly every: number;
}

/** The result of some crashes. */
export interface Crashed {
  runs: number;
  readonly outcomes: { [outcome: string]: number };
  /** Crashes that happened, by site and position: `store.update applied`. */
  readonly crashed: { [site: string]: number };
  /** Methods of ports, and operations, that were called without a crash. */
  readonly reached: string[];
  readonly broken: string[];
}

export const nothing = (): Crashed => ({ runs: 0, outcomes: {}, crashed: {}, reached: [], broken: [] });

/** Plays a piece. Input and result are plain data, so that another process can do it. */
export async function crash(piece: Piece): Promise<Crashed> {
  const definition = definitions[piece.name];
  if (!definition) throw new Error(`There is no definition ${piece.name}.`);
  const all = await crashPointsOf(definition, piece.writesAndSendsAtomically);
  const crashed = { ...nothing(), reached: [...all.without.reached] };
  for await (const crashes of chosenOf(all, piece)) add(crashed, piece, await all.play(crashes));
  return crashed;
}

async function* chosenOf(all: CrashPoints, { twice, first, every }: Piece): AsyncGenerator<readonly Crash[]> {
  const firsts = [...all.singles()].filter((_, index) => index % every === first);
  if (twice) yield* all.pairs(firsts);
  else yield* firsts;
}

function add(crashed: Crashed, { name, writesAndSendsAtomically }: Piece, { crashes, run, broken }: Played): void {
  crashed.runs += 1;
  count(crashed.outcomes, run.ending.outcome);
  for (const [index, { position }] of crashes.entries()) count(crashed.crashed, `${run.crashed[index]?.site} ${position}`);
  const when = crashes.map(crashText).join(', ');
  for (const what of broken)
    crashed.broken.push(`${name}, ${writesAndSendsAtomically ? 'one transaction' : 'write, then send'}, dies at ${when}: ${what}`);
}

const count = (counts: { [what: string]: number }, what: string, by = 1): void => void (counts[what] = (counts[what] ?? 0) + by);

/** Adds the result of one piece to the total. */
export function addCrashed(sum: Crashed, { runs, outcomes, crashed, reached, broken }: Crashed): void {
  sum.runs += runs;
  for (const [outcome, times] of Object.entries(outcomes)) count(sum.outcomes, outcome, times);
  for (const [site, times] of Object.entries(crashed)) count(sum.crashed, site, times);
  for (const site of reached) if (!sum.reached.includes(site)) sum.reached.push(site);
  sum.broken.push(...broken);
}
