/** The subject of a search: one order, and its possible events. */
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
  /** Number of runs that crash, anywhere. */
  readonly crashes: number;
  /** Number of lost answers to writes: the write is repeated, and meets its first attempt. */
  readonly lostAnswers: number;
  /** The number of times that time may move to the next deadline while other events are still possible. */
  readonly hurries: number;
}

/** Only the given faults happen: two of each role, and every message is delivered twice, late, and in any order. */
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
