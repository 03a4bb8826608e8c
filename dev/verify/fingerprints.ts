import { World } from '../../test/simulation/world.ts';

/** A job of `spread`: the fingerprints of these seeds, in order. */
export async function work({ first, runs }: { readonly first: number; readonly runs: number }): Promise<string[]> {
  const fingerprints: string[] = [];
  for (let seed = first; seed < first + runs; seed++) fingerprints.push((await new World(seed).run()).fingerprint);
  return fingerprints;
}
