import { AsyncLocalStorage } from 'node:async_hooks';

/** One run of a function, or one call of a client. */
export interface Caller {
  /** `scheduler`, `agent payment`, `submit`. */
  readonly name: string;
  /** Calls of ports without an answer yet. */
  open: number;
}

const callers = new AsyncLocalStorage<Caller>();

/** Returns the run or client whose work this is; undefined for work of the host itself. */
export const callerAtWork = (): Caller | undefined => callers.getStore();

/** Runs work in the name of a caller. */
export const asCaller = <T>(caller: Caller, work: () => T): T => callers.run(caller, work);
