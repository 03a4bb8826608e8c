/** The number of uses of a solution, and their verdicts. Uses whose verdict is not known yet are in `used` alone. */
export interface SolutionFigures {
  readonly used: number;
  readonly passed: number;
  readonly failedAgain: number;
  readonly failedOtherwise: number;
  /** Milliseconds since 1970; null if it was never used. */
  readonly lastUsedAt: number | null;
}

export const noFigures: SolutionFigures = { used: 0, passed: 0, failedAgain: 0, failedOtherwise: 0, lastUsedAt: null };

/** Quantile of the normal distribution for 95 % confidence. */
const z = 1.96;

/**
 * Returns the lower bound of Wilson's score interval: the share of successes that 95 % confidence allows at least, from 0 to 1. One success
 * in one try (0.21) is worth less than 92 in 100 (0.85).
 */
export function wilsonLowerBound(successes: number, tries: number): number {
  if (tries <= 0 || successes <= 0) return 0;
  const share = successes / tries;
  const square = z * z;
  const center = share + square / (2 * tries);
  const margin = z * Math.sqrt((share * (1 - share) + square / (4 * tries)) / tries);
  return Math.max(0, (center - margin) / (1 + square / tries));
}

/** Returns how far a solution can be trusted, from 0 to 1. A use that ended in another exception has not passed either. */
export const trustIn = (figures: SolutionFigures): number => wilsonLowerBound(figures.passed, figures.passed + failuresOf(figures));

const failuresOf = ({ failedAgain, failedOtherwise }: SolutionFigures): number => failedAgain + failedOtherwise;

/** Sorts the best first: by trust, then by the fewest failures, the most uses, and the id. */
export const ranked = <T extends { readonly solution: { readonly id: string }; readonly figures: SolutionFigures }>(
  all: readonly T[],
): T[] =>
  all.toSorted(
    (one, other) =>
      trustIn(other.figures) - trustIn(one.figures) ||
      failuresOf(one.figures) - failuresOf(other.figures) ||
      other.figures.used - one.figures.used ||
      (one.solution.id < other.solution.id ? -1 : 1),
  );
