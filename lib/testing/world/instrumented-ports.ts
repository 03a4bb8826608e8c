/** One call of a port. The method determines the types of `args` and of the result of `apply`. */
export interface PortCall {
  /** `store.update`; for a method of a returned object, `store.recordIntent.withdraw`. */
  readonly site: string;
  readonly args: readonly unknown[];
  readonly apply: () => unknown;
}

type Method = (...args: unknown[]) => unknown;

/**
 * Wraps a port so that every method call passes through `call`. No method is listed by name, so methods that a port
 * gets later pass through `call`, too, and so do the methods of returned objects.
 */
export function instrumented<P extends object>(name: string, port: P, call: (made: PortCall) => Promise<unknown>): P {
  return new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function' || typeof key === 'symbol') return value;
      const site = `${name}.${key}`;
      return async (...args: unknown[]) => {
        const answer = await call({ site, args, apply: () => (value as Method).apply(target, args) });
        return isPlain(answer) && Object.values(answer).some((part) => typeof part === 'function')
          ? instrumented(site, answer, call)
          : answer;
      };
    },
  });
}

const isPlain = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the names of all methods of a port: `store.create`. */
export const sitesOf = (name: string, port: object): readonly string[] =>
  Object.entries(port).flatMap(([key, value]) => (typeof value === 'function' ? [`${name}.${key}`] : []));
