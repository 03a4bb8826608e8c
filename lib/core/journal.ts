import type { Fault } from './fault.ts';
import type { Json } from './json.ts';
import type { Result } from './state.ts';

/**
 * What the core says of itself. `asking` is the end of a request id: `requestIdFrom` puts order and path before it.
 * The scheduler adds facts about the order as a whole. */
export type CoreFact =
  | { readonly type: 'ActivityStarted'; readonly path: string }
  | { readonly type: 'StepAsked'; readonly path: string; readonly asking: string; readonly completeBy: number }
  | { readonly type: 'StepExtended'; readonly path: string; readonly asking: string; readonly completeBy: number }
  | { readonly type: 'AttemptFailed'; readonly path: string; readonly asking: string; readonly fault: Fault }
  /** An answer that came while the order was held. */
  | { readonly type: 'ReplyRecorded'; readonly path: string; readonly asking: string; readonly status: string }
  | { readonly type: 'ActivityClosed'; readonly path: string; readonly result: Result; readonly asking?: string; readonly output?: Json }
  | { readonly type: 'OrderHeld'; readonly path: string; readonly fault: Fault }
  | { readonly type: 'OrderReleased'; readonly path: string };

/** One line of an order's history. */
export type Fact<F = CoreFact> = F & {
  /** Rises by one from line to line. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
};
