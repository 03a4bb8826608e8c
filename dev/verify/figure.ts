/** What a figure is measured with. */
export interface Run {
  /** `full` is what figures are quoted from; `short` is what every change must pass. */
  readonly form: 'full' | 'short';
  /** All chance comes from it: the same seed and the same commit are the same run, as far as real processes allow. */
  readonly seed: number;
  /** So many processes may work at once. */
  readonly cores: number;
  /** Long work says how far it is. */
  progress(line: string): void;
}

/** What was measured. `reached` is false where a law was broken, where too little happened, or where an aim was missed. */
export interface Measured {
  readonly reached: boolean;
  /** Why it was not reached, in words; empty when it was. */
  readonly short: readonly string[];
  /** Whatever else was counted: it becomes part of the line. */
  readonly [count: string]: unknown;
}

/** One goal, and the command that shows whether it is reached. */
export interface Figure {
  /** What is shown, in one sentence. */
  readonly shows: string;
  measure(run: Run): Promise<Measured>;
}

/** What was missed, as an answer: nothing missed is reached. */
export const measured = (short: readonly string[], counts: { readonly [count: string]: unknown }): Measured => ({
  reached: short.length === 0,
  short,
  ...counts,
});
