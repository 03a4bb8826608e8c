import type { Breaker } from '#ports/circuit-breaker';

/** What an agent does with its service, and with what is stored of it, as far as it can be seen from outside. */
export type AgentEvent =
  /**
   * It calls. `tries`: how often for the same asking, this time included; `completeBy`: until when it says that there is time;
   * `isAbandoned`: it has given it up before; `stoodStillUntil`: when its process stood still last, by the world's time.
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
   * It has its answer, or hears that there is none; `gone` is what it has given up, because its time is over or for another
   * reason. `isStopping`: its process was told to stop, or one of its runs was.
   */
  | {
      readonly what: 'call ended';
      readonly call: number;
      readonly how: 'answered' | 'failed' | 'abandoned';
      readonly isStopping: boolean;
      readonly stoodStillUntil: number;
    }
  /** It asks for more time, and hears that this was sent. */
  | { readonly what: 'sends heartbeat'; readonly requestId: string; readonly completeBy: string; readonly stoodStillUntil: number }
  | { readonly what: 'heartbeat sent'; readonly requestId: string; readonly completeBy: string }
  /** It asks the store. */
  | { readonly what: 'reads breaker' }
  | { readonly what: 'writes breaker'; readonly breaker: Breaker; readonly loadedRev: number }
  /** What the store says to that: of a write also whether it was carried out. */
  | { readonly what: 'store answered'; readonly breaker: Breaker | undefined; readonly isWritten?: boolean }
  | { readonly what: 'store failed'; readonly isWritten?: false }
  /** It notes what may be asked for only once. */
  | { readonly what: 'records intent'; readonly requestId: string; readonly completeBy: string }
  | { readonly what: 'requeues'; readonly requestId: string };

/** `now` by the clock of its process. */
export interface AgentObservation {
  readonly type: 'agent event';
  readonly host: string;
  readonly agent: string;
  readonly now: number;
  readonly event: AgentEvent;
}

/** The clock of a process is put on, or back: what it says just before, and just after. */
export interface ClockJumps {
  readonly type: 'clock jumps';
  readonly host: string;
  readonly from: number;
  readonly to: number;
}
