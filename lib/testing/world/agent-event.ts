import type { Breaker } from '#ports/circuit-breaker';

/** An event of an agent that is visible from outside: a service call, a message, or an access to the circuit breaker. */
export type AgentEvent =
  /** A batch of messages has come from the request queue of the agent. */
  | { readonly what: 'messages arrive' }
  /**
   * A call of the service. `tries`: the number of calls for the same request, including this one. `completeBy`: the deadline that the
   * agent applies. `isAbandoned`: whether the agent had abandoned the request before. `stoodStillUntil`: the world time at which its
   * process last stood still.
   */
  | {
      readonly what: 'calls';
      readonly call: number;
      readonly orderId: string;
      readonly requestId: string;
      readonly operation: string;
      readonly tries: number;
      readonly completeBy: number;
      readonly isAbandoned: boolean;
      readonly stoodStillUntil: number;
    }
  /**
   * The end of a call. `abandoned`: the agent stopped waiting, at the deadline or for another reason. `isStopping`: whether its process
   * or one of its runs had to stop.
   */
  | {
      readonly what: 'call ended';
      readonly call: number;
      readonly how: 'answered' | 'failed' | 'abandoned';
      readonly isStopping: boolean;
      readonly stoodStillUntil: number;
    }
  /** A heartbeat that requests more time, and the confirmation that it was sent. */
  | { readonly what: 'sends heartbeat'; readonly requestId: string; readonly completeBy: string; readonly stoodStillUntil: number }
  | { readonly what: 'heartbeat sent'; readonly requestId: string; readonly completeBy: string }
  /** An access of the circuit breaker in the store. */
  | { readonly what: 'reads breaker'; readonly access: number }
  | { readonly what: 'writes breaker'; readonly access: number; readonly breaker: Breaker; readonly loadedRev: number }
  /** The process continues with the store's answer to that access. `isWritten`: whether a write succeeded. */
  | { readonly what: 'store answered'; readonly access: number; readonly breaker: Breaker | undefined; readonly isWritten?: boolean }
  | { readonly what: 'store failed'; readonly isWritten?: false }
  /** The intent of an at-most-once request is recorded. */
  | { readonly what: 'records intent'; readonly requestId: string; readonly completeBy: string }
  | { readonly what: 'requeues'; readonly requestId: string };

/** An event of an agent in one process. `now`: the clock of that process. */
export interface AgentObservation {
  readonly type: 'agent event';
  readonly host: string;
  readonly agent: string;
  readonly now: number;
  readonly event: AgentEvent;
}

/** The clock of a process jumps: its time before and after. */
export interface ClockJumps {
  readonly type: 'clock jumps';
  readonly host: string;
  readonly from: number;
  readonly to: number;
}
