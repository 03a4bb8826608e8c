import type { Breaker } from '#ports/circuit-breaker';

/** How an agent treats its service and the stored circuit breaker, as far as that is visible from outside. */
export type Guarded =
  /**
   * It calls the service. `tries` counts the tries of the same request, with this one. `completeBy` is the deadline that the operation
   * gets. `isGone`: the agent had given up before. `stoodStillUntil`: the time of the world until which its process stood still last.
   */
  | {
      readonly what: 'asks';
      readonly call: number;
      readonly orderId: string;
      readonly requestId: string;
      readonly operation: string;
      readonly tries: number;
      readonly completeBy: number;
      readonly isGone: boolean;
      readonly stoodStillUntil: number;
    }
  /**
   * Its call has ended. `gone`: the agent gave up, at the deadline or for another reason. `isToStop`: its process, or one of its runs,
   * is to stop.
   */
  | {
      readonly what: 'hears';
      readonly call: number;
      readonly how: 'answered' | 'failed' | 'gone';
      readonly isToStop: boolean;
      readonly stoodStillUntil: number;
    }
  /** It asks for more time with a heartbeat, and then knows that the heartbeat was sent. */
  | { readonly what: 'beats'; readonly requestId: string; readonly completeBy: string; readonly stoodStillUntil: number }
  | { readonly what: 'has beaten'; readonly requestId: string; readonly completeBy: string }
  /** It reads or writes the circuit breaker. */
  | { readonly what: 'reads' }
  | { readonly what: 'writes'; readonly breaker: Breaker; readonly loadedRev: number }
  /** The store answers. After a write, `isWritten` says whether the store has taken it. */
  | { readonly what: 'is told'; readonly breaker: Breaker | undefined; readonly isWritten?: boolean }
  | { readonly what: 'is not told'; readonly isWritten?: false }
  /** It records the intent to call an at-most-once operation. */
  | { readonly what: 'notes'; readonly requestId: string; readonly completeBy: string }
  /** It requeues a request. */
  | { readonly what: 'puts back'; readonly requestId: string };

/** An observation of one agent in one process. `now` is the time by the clock of the process. */
export interface GuardedBy {
  readonly type: 'guarded';
  readonly host: string;
  readonly agent: string;
  readonly now: number;
  readonly event: Guarded;
}

/** The clock of a process jumps: its time just before, and just after. */
export interface ClockJumps {
  readonly type: 'clock jumps';
  readonly host: string;
  readonly from: number;
  readonly to: number;
}
