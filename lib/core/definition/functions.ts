import { isObject, type Json } from '#core/data/json';

/** A pure function of an app: the same input gives the same output, and nothing else happens. It throws for what it can't do. */
export type PureFunction = (input: Json) => Json;

const functions = new Map<string, PureFunction>();

/** Makes a function known under its name and version (`quote@1`): orders that are under way need the one that they began with. */
export function registerFunction(name: string, fn: PureFunction): void {
  if (functions.has(name)) throw new TypeError(`Two functions are called "${name}". Give one of them another name or version.`);
  functions.set(name, fn);
}

export const functionOf = (name: string): PureFunction | undefined => functions.get(name);

export type Computed = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** Its input is frozen, so that nothing it does to it can be seen outside. */
export function compute(name: string, input: Json): Computed {
  const fn = functions.get(name);
  if (!fn) return { ok: false, message: `No function is called "${name}".` };
  try {
    return { ok: true, value: fn(frozen(structuredClone(input))) };
  } catch (error) {
    return { ok: false, message: `${name}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function frozen<T extends Json>(value: T): T {
  if (isObject(value) || Array.isArray(value)) for (const part of Object.values(value)) frozen(part as Json);
  return Object.freeze(value);
}
