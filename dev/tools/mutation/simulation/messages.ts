/** What came of one world. */
export interface Played {
  readonly seed: number;
  /** Why it counts as caught, in words; undefined where everything held. */
  readonly wrong: string | undefined;
  /** Of processor time. */
  readonly ms: number;
  /** How often supervisors look. Where nothing comes to rest a world costs as much as they look. */
  readonly periodMs: number;
  /** The same where everything that could be seen from outside was the same. */
  readonly print: string;
  /** `outcome completed` -> how often. */
  readonly happened: { readonly [what: string]: number };
  /** Mutant -> how often its place was passed; only where that was asked for. */
  readonly hits: { readonly [mutant: string]: number };
}

/** What a worker is asked for: a world with one change, or with none, and then with a count of what it passes. */
export interface Ask {
  readonly seed: number;
  readonly mutant: string | undefined;
}

/** What a worker says first: what is passed while modules are loaded, in no world at all. */
export interface Loaded {
  readonly atLoading: { readonly [mutant: string]: number };
}

/** Says from time to time that the world still goes on, however slow the machine is. */
export const sign = 'goes on';
