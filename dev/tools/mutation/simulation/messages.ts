/** The result of one world. */
export interface Played {
  readonly seed: number;
  /** The reason why the mutant counts as caught, in words; undefined if every law held. */
  readonly wrong: string | undefined;
  /** Milliseconds of processor time. */
  readonly ms: number;
  /** The period of the supervisors. The cost of a world that never comes to rest depends on it. */
  readonly periodMs: number;
  /** A hash of everything that an observer can see from outside. */
  readonly print: string;
  /** Counts by event, such as `outcome completed`. */
  readonly happened: { readonly [what: string]: number };
  /** By mutant: the number of times that its changed place ran; only on request. */
  readonly hits: { readonly [mutant: string]: number };
}

/** A request to a worker: play a world with one change; or play it unchanged, and count how often it runs each place of a change. */
export interface PlayRequest {
  readonly seed: number;
  readonly mutant: string | undefined;
}

/** The first message of a worker: the places of changes that run while the modules load, before any world. */
export interface Loaded {
  readonly atLoading: { readonly [mutant: string]: number };
}

/** The message that a worker sends from time to time while a world runs, however slow the machine is. */
export const sign = 'goes on';
