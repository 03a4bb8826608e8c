import { type Summary, simulate } from '../test/simulation/simulate.ts';

/** A job of `spread`: plays one world for each seed. */
export const work = ({ first, runs }: { readonly first: number; readonly runs: number }): Promise<Summary> => simulate(first, runs);
