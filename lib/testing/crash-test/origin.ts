import { AsyncLocalStorage } from 'node:async_hooks';

/** The origin of calls of ports: one run of a function, or one call of a client. */
export interface Origin {
  /** `scheduler`, `agent payment`, `submit`. */
  readonly name: string;
  /** Number of its calls of ports without an answer yet. */
  open: number;
}

const origins = new AsyncLocalStorage<Origin>();

/** Returns the origin of the code that runs now; undefined for work of the host itself. */
export const currentOrigin = (): Origin | undefined => origins.getStore();

/** Runs work whose calls have this origin. */
export const asOrigin = <T>(origin: Origin, work: () => T): T => origins.run(origin, work);
