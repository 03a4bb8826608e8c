/** What one round of something came to. */
export interface Round {
  /** `worlds` -> how many. */
  readonly counts: { readonly [what: string]: number };
  readonly broken: readonly Broken[];
  /** Of the process that plays round after round, after a collection of garbage. */
  readonly memory?: Memory;
}

export interface Broken {
  /** What was wrong, in words. */
  readonly wrong: string;
  /** The command that plays it again. */
  readonly again: string;
}

export interface Memory {
  readonly rssMb: number;
  readonly heapMb: number;
}

/** Something that can be done for hours, one round after the other, each with seeds of its own. */
export interface Thing {
  /** From this seed on; takes some seconds. Whatever goes wrong in it is part of its answer. */
  round(seed: number): Promise<Round>;
  /** How many seeds a round takes. */
  readonly seeds: number;
  /** Ends what is at work, so that `round` answers soon. */
  stop(): void;
}
