import type { System } from './system.ts';

/** What a file of `functions/` gets to make its handler from: the same in Lambda, on one machine, and in tests. */
export interface FunctionContext {
  readonly system: System;
  readonly environment: { readonly [name: string]: string };
  /** False while the process drains: nothing new is taken. */
  readonly accepting: () => boolean;
  /** Aborted when work that is still going on must be given up. */
  readonly stopping: AbortSignal;
}

/** What every file of `functions/` exports beside the handler for Lambda. */
export type CreateFunction = (context: FunctionContext) => (event: never) => unknown;
