/** What is searched: one order, and what may happen to it. */
export interface Scenario {
  readonly workflow: 'by-step' | 'by-order';
  /** Whether the second step may be refused for good. */
  readonly refuses: boolean;
  /** Whether the client may cancel, once, at any time. */
  readonly cancels: boolean;
  readonly schedulers: 1 | 2;
  readonly supervisors: 1 | 2;
  readonly agents: 1 | 2;
  /** Copies of every message. */
  readonly copies: 1 | 2;
  /** So many runs die, anywhere. */
  readonly crashes: number;
  /** So many answers to a write get lost: it is made again, and meets itself. */
  readonly lostAnswers: number;
  /** So often time goes on to the next deadline although something else could still happen. */
  readonly hurries: number;
}

/** Nothing goes wrong but what is said: two of each role, and every message comes twice, late, and in any order. */
export const searched = (more: Partial<Scenario> = {}): Scenario => ({
  workflow: 'by-step',
  refuses: false,
  cancels: false,
  schedulers: 2,
  supervisors: 2,
  agents: 1,
  copies: 2,
  crashes: 0,
  lostAnswers: 0,
  hurries: 0,
  ...more,
});
