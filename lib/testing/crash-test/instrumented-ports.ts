import { AsyncLocalStorage } from 'node:async_hooks';

/** Whoever calls a port now: `scheduler`, `agent payment`, `submit`. */
export const caller = new AsyncLocalStorage<string>();

/** A call of a port. `args` and `answer` are what its method has them to be. */
export interface PortCall {
  /** `store.update`; of something that a method gave back: `store.recordIntent.withdraw`. */
  readonly site: string;
  readonly args: readonly unknown[];
  readonly apply: () => unknown;
}

type Method = (...args: unknown[]) => unknown;

/**
 * A port with every call of it passed to `call`, whatever methods it has: a new one is not forgotten. Methods of what is
 * given back count as well.
 */
export function sited<P extends object>(name: string, port: P, call: (made: PortCall) => Promise<unknown>): P {
  return new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function' || typeof key === 'symbol') return value;
      const site = `${name}.${key}`;
      return async (...args: unknown[]) => {
        const answer = await call({ site, args, apply: () => (value as Method).apply(target, args) });
        return isPlain(answer) && Object.values(answer).some((part) => typeof part === 'function') ? sited(site, answer, call) : answer;
      };
    },
  });
}

const isPlain = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names of all methods that a port has: `store.create`. */
export const sitesOf = (name: string, port: object): readonly string[] =>
  Object.entries(port).flatMap(([key, value]) => (typeof value === 'function' ? [`${name}.${key}`] : []));
