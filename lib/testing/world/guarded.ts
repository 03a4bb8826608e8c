import type { Breaker } from '#ports/circuit-breaker';

/** What an agent does with its service, and with what is stored of it, as far as it can be seen from outside. */
export type Guarded =
  /**
   * It calls. `tries`: how often for the same asking, this time included; `completeBy`: until when it says that there is time;
   * `isGone`: it has given it up before; `stoodStillUntil`: when its process stood still last, by the world's time.
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
   * It has its answer, or hears that there is none; `gone` is what it has given up, because its time is over or for another
   * reason. `isToStop`: its process was told to stop, or one of its runs was.
   */
  | {
      readonly what: 'hears';
      readonly call: number;
      readonly how: 'answered' | 'failed' | 'gone';
      readonly isToStop: boolean;
      readonly stoodStillUntil: number;
    }
  /** It asks for more time, and hears that this was sent. */
  | { readonly what: 'beats'; readonly requestId: string; readonly completeBy: string; readonly stoodStillUntil: number }
  | { readonly what: 'has beaten'; readonly requestId: string; readonly completeBy: string }
  /** It asks the store. */
  | { readonly what: 'reads' }
  | { readonly what: 'writes'; readonly breaker: Breaker; readonly loadedRev: number }
  /** What the store says to that: of a write also whether it was carried out. */
  | { readonly what: 'is told'; readonly breaker: Breaker | undefined; readonly isWritten?: boolean }
  | { readonly what: 'is not told'; readonly isWritten?: false }
  /** It notes what may be asked for only once. */
  | { readonly what: 'notes'; readonly requestId: string; readonly completeBy: string }
  | { readonly what: 'puts back'; readonly requestId: string };

/** `now` by the clock of its process. */
export interface GuardedBy {
  readonly type: 'guarded';
  readonly host: string;
  readonly agent: string;
  readonly now: number;
  readonly event: Guarded;
}

/** The clock of a process is put on, or back: what it says just before, and just after. */
export interface ClockJumps {
  readonly type: 'clock jumps';
  readonly host: string;
  readonly from: number;
  readonly to: number;
}
