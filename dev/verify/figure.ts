/** The settings of a measurement. */
export interface Run {
  /** Published figures come from `full`; every change must pass `short`. */
  readonly form: 'full' | 'short';
  /** The source of all chance: the same seed and the same commit are the same run, as far as real processes allow. */
  readonly seed: number;
  /** The number of processes that may run in parallel. */
  readonly cores: number;
  /** Reports the progress of long work. */
  progress(line: string): void;
}

/** The result of a measurement. `reached` is false if a law was broken, too little happened, or an aim was missed. */
export interface Measured {
  readonly reached: boolean;
  /** The reasons why the goal was not reached, in words; empty if it was. */
  readonly shortfalls: readonly string[];
  /** Further counts, which become part of the line. */
  readonly [count: string]: unknown;
}

/** One goal, and the measurement that shows whether it is reached. */
export interface Figure {
  /** The property that the measurement shows, in one sentence. */
  readonly shows: string;
  measure(run: Run): Promise<Measured>;
}

/** Builds a result: the goal is reached if the list of reasons is empty. */
export const measured = (
  shortfalls: readonly string[],
  // A count of this name would take the place of the verdict.
  counts: { readonly [count: string]: unknown } & { readonly reached?: never; readonly shortfalls?: never },
): Measured => ({
  ...counts,
  reached: shortfalls.length === 0,
  shortfalls,
});
