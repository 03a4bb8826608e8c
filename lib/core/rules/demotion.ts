/** The verdicts about the last actions of a rule, the oldest first: `p` for passed, `f` for failed again. */
export type Outcomes = string;

export const demotionLimits = { lastActions: 20, failedShare: 0.5 } as const;

export const withOutcome = (outcomes: Outcomes, hasPassed: boolean): Outcomes =>
  `${outcomes}${hasPassed ? 'p' : 'f'}`.slice(-demotionLimits.lastActions);

/** Whether a rule does harm: of its last 20 actions, half or more failed again. It then goes to dry-run, and an alert says so. */
export function isHarmful(outcomes: Outcomes): boolean {
  const failed = [...outcomes].filter((each) => each === 'f').length;
  return outcomes.length >= demotionLimits.lastActions && failed >= demotionLimits.lastActions * demotionLimits.failedShare;
}
