import type * as z from 'zod';
import type { Json } from '#core/data/json';
import { registerFunction } from '#core/definition/functions';
import type { In } from './expression.ts';
import { type AnsweringActivity, recordAnswering } from './step.ts';

/**
 * A pure function of the app, for what an expression can't say: `const quote = compute('quote', { version: 1, input,
 * output }, ({ items }) => …)`, then `quote({ items: order.items })` in a workflow. It runs inside the transition, so it
 * is quick, asks nobody, and returns the same for the same input, always: orders that are under way need the version with
 * which they began, so a change of it gets a new one. What it throws, and what its schemas refuse, is the fault
 * `ComputeFailed`.
 */
export function compute<I extends z.ZodType, O extends z.ZodType>(
  name: string,
  { version, input, output }: { readonly version: number; readonly input: I; readonly output: O },
  fn: (input: z.output<I>) => z.input<O>,
): (input: In<z.input<I>>) => AnsweringActivity<never, z.output<O>> {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))
    throw new TypeError(`"${name}" is no name for a function: a letter, then letters, digits, "-" and "_", at most 64.`);
  if (!Number.isSafeInteger(version) || version < 1) throw new TypeError(`version is ${version}; it is a whole number from 1 up.`);

  const versioned = `${name}@${version}`;
  registerFunction(versioned, (given) => output.parse(fn(input.parse(given))) as Json);
  return (given) => recordAnswering({ activity: 'compute', name, function: versioned, input: given });
}
