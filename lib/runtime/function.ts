import type { System } from './system.ts';

/** The context from which a file of `functions/` creates its handler: the same in Lambda, on one machine and in tests. */
export interface FunctionContext {
  readonly system: System;
  readonly environment: { readonly [name: string]: string };
  /** Whether the process accepts new work: not while it drains. */
  readonly accepting: () => boolean;
}

/** The context of one run of a handler, beside the event. */
export interface Invocation {
  /** Aborts when running work must stop, because the process stops or the run's timeout is near. */
  readonly stopping: AbortSignal;
}

/** The `create` export of every file of `functions/`. */
export type CreateFunction = (context: FunctionContext) => (event: never, invocation: Invocation) => unknown;

/** Loads a file of `functions/`. */
export type LoadFunction = (file: string) => Promise<{ readonly create: CreateFunction }>;
