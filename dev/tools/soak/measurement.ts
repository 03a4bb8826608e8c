/** The result of one round. */
export interface Round {
  /** The number that was played, by kind: `{ worlds: 20 }`. */
  readonly counts: { readonly [what: string]: number };
  readonly broken: readonly Broken[];
  /** Memory of the process that plays the rounds, after a garbage collection. */
  readonly memory?: Memory;
}

export interface Broken {
  /** The reason, in words. */
  readonly wrong: string;
  /** The command that repeats the failure. */
  readonly again: string;
}

export interface Memory {
  readonly rssMb: number;
  readonly heapMb: number;
}

/** A test that can run for hours, one round after the other, each with seeds of its own. */
export interface SoakSubject {
  /** Plays one round from this seed on; takes some seconds. Failures are part of the result. */
  round(seed: number): Promise<Round>;
  /** The number of seeds per round. */
  readonly seeds: number;
  /** Ends the running work, so that `round` resolves soon. */
  stop(): void;
}
