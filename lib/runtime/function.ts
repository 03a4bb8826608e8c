import type { System } from './system.ts';

/** What a file of `functions/` gets to make its handler from: the same in Lambda, on one machine, and in tests. */
export interface FunctionContext {
  readonly system: System;
  readonly environment: { readonly [name: string]: string };
  /** False while the process drains: nothing new is taken. */
  readonly accepting: () => boolean;
}

/** What a handler is told of one run of it, beside the event. */
export interface Invocation {
  /** Aborted when work that is still going on must be given up: the process stops, or the time of the run is over. */
  readonly stopping: AbortSignal;
}

/** What every file of `functions/` exports beside the handler for Lambda. */
export type CreateFunction = (context: FunctionContext) => (event: never, invocation: Invocation) => unknown;
