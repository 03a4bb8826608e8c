import { isObject, type Json } from '#core/data/json';

/** A pure function of an app: equal input gives equal output, without side effects. It throws if it cannot compute a result. */
export type PureFunction = (input: Json) => Json;

const functions = new Map<string, PureFunction>();

/** Registers a function under its name and version (`quote@1`). Running orders need the version they started with. */
export function registerFunction(name: string, fn: PureFunction): void {
  if (functions.has(name)) throw new TypeError(`Two functions are called "${name}". Give one of them another name or version.`);
  functions.set(name, fn);
}

export const functionOf = (name: string): PureFunction | undefined => functions.get(name);

export type Computed = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** Calls a function with a frozen copy of its input, so that it cannot change data outside. */
export function compute(name: string, input: Json): Computed {
  const fn = functions.get(name);
  if (!fn) return { ok: false, message: `Unknown function "${name}". Deploy an app that still defines it: running orders need it.` };
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
