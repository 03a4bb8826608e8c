/** The random choices of a simulation: the same seed gives the same sequence. */
export interface Chance {
  /** Returns a number from 0 to below 1. */
  next(): number;
  /** Returns true with this probability. */
  happens(probability: number): boolean;
  /** Returns an integer; both bounds are included. */
  between(least: number, most: number): number;
  pick<T>(list: readonly T[]): T;
}

/** Returns a Mulberry32 generator: small, and random enough to choose faults. */
export function chanceOf(seed: number): Chance {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    happens: (probability) => next() < probability,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick: (list) => {
      const picked = list[Math.floor(next() * list.length)];
      if (picked === undefined) throw new Error('There is nothing to pick from.');
      return picked;
    },
  };
}

/** The number of worlds of which one has a given theme. */
const oneIn = 15;

/** Returns the random sequence of a theme; undefined if this world does not have it. */
export const isIn = (seed: number, theme: number): Chance | undefined => {
  const chance = themeOf(seed, theme);
  return chance.happens(1 / oneIn) ? chance : undefined;
};

/**
 * Returns the random sequence of a restore of the table; undefined if this world has none. The restore puts records back and removes none,
 * so records beside the orders would be newer than the restored orders. Worlds with a restore leave out the themes with such records.
 */
export const restoredIn = (seed: number): Chance | undefined => isIn(seed, 5);

export const themeOf = (seed: number, theme: number): Chance => chanceOf(seed + 3_000_003 + theme * 1_000_000);
