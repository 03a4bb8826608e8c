import type { Clean, CleanWorld } from './clean.ts';
import { worldsFor } from './clean.ts';
import type { Played } from './messages.ts';
import type { Mutant } from './plan.ts';
import { Player, WorkerLost } from './player.ts';

/** The result of one change. */
export interface Result {
  readonly key: string;
  /** `caught`: by a law, by a thrown error, or because too little or too much happens. `lost`: the worker gave no answer. */
  readonly status: 'caught' | 'lost' | 'survived' | 'not reached';
  /** The reason, in words. */
  readonly wrong?: string;
  readonly seed?: number;
  /** The number of worlds that were tried, and of those in which the change made a difference that is visible from outside. */
  readonly worlds: number;
  readonly changed: number;
  /** Milliseconds of processor time. */
  readonly ms: number;
}

export interface Limits {
  readonly worldsMax: number;
  /** The number of worlds without a visible difference after which the mutant counts as survived. */
  readonly unseenMax: number;
}

/** Plays worlds with one change until something is wrong. `first`: the seed of the world that last caught a change of the same file. */
export async function tryMutant(player: Player, mutant: Mutant, clean: Clean, limits: Limits, first?: number): Promise<Result> {
  const own = clean.passes[mutant.id] === undefined && clean.atLoading.includes(mutant.id) ? new Player(mutant.id) : undefined;
  const all = own ? clean.worlds : worldsFor(mutant.id, clean);
  const worlds = [...all.filter(({ seed }) => seed === first), ...all.filter(({ seed }) => seed !== first)].slice(0, limits.worldsMax);
  const { key } = mutant;
  const tried: { readonly world: CleanWorld; readonly played: Played }[] = [];
  const result = (rest: Pick<Result, 'status' | 'wrong' | 'seed'>): Result => {
    const changed = tried.filter(({ world, played }) => world.print !== played.print).length;
    const ms = Math.round(tried.reduce((sum, { played }) => sum + played.ms, 0));
    return { key, worlds: tried.length, changed, ms, ...rest };
  };
  if (worlds.length === 0) return result({ status: 'not reached' });
  try {
    for (const world of worlds) {
      const played = await (own ?? player).play({ seed: world.seed, mutant: mutant.id });
      tried.push({ world, played });
      if (played.wrong !== undefined) return result({ status: 'caught', wrong: played.wrong, seed: world.seed });
      if (tried.length >= limits.unseenMax && tried.every((each) => each.world.print === each.played.print)) break;
    }
  } catch (error) {
    if (!(error instanceof WorkerLost)) throw error;
    return result({ status: 'lost', wrong: error.message });
  } finally {
    own?.stop();
  }
  const unusual = unusualIn(tried);
  return result(unusual === undefined ? { status: 'survived' } : { status: 'caught', wrong: unusual });
}

/**
 * Finds counts that differ greatly from the usual ones, because a world in which nothing happens, or everything ten times,
 * breaks no law.
 */
function unusualIn(tried: readonly { readonly world: CleanWorld; readonly played: Played }[]): string | undefined {
  const usual = sum(tried.map(({ world }) => world.happened));
  const now = sum(tried.map(({ played }) => played.happened));
  const all = [...new Set([...Object.keys(usual), ...Object.keys(now)])].map((what) => [what, usual[what] ?? 0, now[what] ?? 0] as const);
  const unusual = all.find(([, before, after]) => isMissed(before, after) || isMissed(after, before));
  if (!unusual) return undefined;
  const [what, before, after] = unusual;
  return `too ${after < before ? 'little' : 'much'} happens: ${what} ${after} times instead of ${before}`;
}

/** Whether a frequent event happens less than a third as often as usual, or not at all. The limits rule out chance. */
const isMissed = (usual: number, now: number): boolean => (usual >= 60 && now < usual / 3) || (usual >= 20 && now === 0);

function sum(counts: readonly Played['happened'][]): { readonly [what: string]: number } {
  const all: { [what: string]: number } = {};
  for (const each of counts) for (const [what, count] of Object.entries(each)) all[what] = (all[what] ?? 0) + count;
  return all;
}
