import type { StepReply } from './event.ts';
import type { Fault } from './fault.ts';
import type { Json } from './json.ts';

export type Status = 'Initialized' | 'Executing' | 'Canceling' | 'Faulting' | 'Compensating' | 'Closed';
export type Result = 'Succeeded' | 'Faulted' | 'Canceled' | 'Compensated';

/** One activity that is alive. */
export interface ActivityState<S = unknown> {
  readonly status: Exclude<Status, 'Initialized' | 'Closed'>;
  /** What its behaviour keeps; absent where it could not even begin. */
  readonly own?: S;
  /** An answer that came while the order was held: recorded, and applied when it goes on. */
  readonly reply?: StepReply;
  /** Why it is Faulting. */
  readonly fault?: Fault;
}

/** Why an order waits for a person. */
export interface Held {
  readonly path: string;
  readonly fault: Fault;
  readonly at: number;
}

/**
 * Where one instance of a workflow is: plain JSON, only what is alive or needed later, and paths instead of nodes of
 * the definition.
 */
export interface State {
  readonly phase: 'initialized' | 'running' | 'held' | 'closed';
  /** By path: `order/parallel/ship`. */
  readonly activities: { readonly [path: string]: ActivityState };
  /** By path: the outputs that a later expression reads. */
  readonly outputs: { readonly [path: string]: Json };
  /** How long a step may take that says nothing itself; pinned when the order starts. */
  readonly stepMs: number;
  /** When the whole order's time is over. */
  readonly endBy?: number;
  readonly held?: Held;
}

export const initialState: State = { phase: 'initialized', activities: {}, outputs: {}, stepMs: 0 };
