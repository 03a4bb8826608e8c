import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Plan } from './plan.ts';
import { place } from './plan.ts';
import { Player } from './player.ts';

/** A world without any change. */
export interface CleanWorld {
  readonly seed: number;
  readonly ms: number;
  readonly periodMs: number;
  readonly print: string;
  readonly happened: { readonly [what: string]: number };
}

/** The results of all worlds without any change. */
export interface Clean {
  readonly worlds: readonly CleanWorld[];
  /** By mutant: the number of times that each world runs the code which the mutant changes, in the order of the worlds. */
  readonly passes: { readonly [mutant: string]: readonly number[] };
  readonly atLoading: readonly string[];
}

/** Plays the worlds from seed 1 on without any change. The result is kept until the code changes. */
export async function cleanWorlds({ code }: Plan, count: number, progress: (line: string) => void): Promise<Clean> {
  const file = `${place}clean-${code}-${count}.json`;
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Clean;
  const player = new Player();
  const worlds: CleanWorld[] = [];
  const passes: { [mutant: string]: number[] } = {};
  for (let seed = 1; seed <= count; seed++) {
    const { wrong, hits, ...world } = await player.play({ seed, mutant: undefined });
    if (wrong !== undefined) progress(`seed ${seed} is broken without any change, and left out: ${wrong}`);
    else {
      for (const [mutant, times] of Object.entries(hits)) (passes[mutant] ??= [])[worlds.length] = times;
      worlds.push(world);
    }
  }
  const clean: Clean = { worlds, passes, atLoading: Object.keys(player.atLoading) };
  player.stop();
  writeFileSync(file, JSON.stringify(clean));
  return clean;
}

/**
 * Half of the caught mutants are caught in worlds that never come to rest. In these, supervisors run once in each period, for hours of
 * virtual time. This estimate, divided by the period in milliseconds, is the processor time that such a world costs, in milliseconds.
 */
const neverAtRest = 200_000;

/** Returns the worlds that run the code which the mutant changes. Worlds that run it often and take little time come first. */
export function worldsFor(mutant: string, { worlds, passes }: Clean): readonly CleanWorld[] {
  const times = passes[mutant] ?? [];
  const cost = ({ ms, periodMs }: CleanWorld) => ms + neverAtRest / periodMs;
  const worth = (world: CleanWorld, at: number) => Math.log2(1 + (times[at] ?? 0)) / cost(world);
  return worlds
    .map((world, at) => ({ world, worth: worth(world, at) }))
    .filter(({ worth }) => worth > 0)
    .toSorted((one, other) => other.worth - one.worth)
    .map(({ world }) => world);
}
