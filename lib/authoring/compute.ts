import type * as z from 'zod';
import type { Json } from '#core/data/json';
import { registerFunction } from '#core/definition/functions';
import { withinTimeLimit } from './compute-limit.ts';
import type { In } from './expression.ts';
import { reportingErrors } from './function-errors.ts';
import { type AnsweringActivity, recordAnswering } from './step.ts';

/**
 * Defines a pure function of the app, for logic beyond CEL: `const quote = compute('quote', { version: 1, input, output }, ({ items }) =>
 * …)`, then `quote({ items: order.items })` in a workflow. The function runs inside a transition: it must be fast, deterministic and free
 * of I/O. Running orders need the version they began with, so each change gets a new version. An exception, a schema violation or a
 * call that takes more than a second raises the fault `ComputeFailed`.
 */
export function compute<I extends z.ZodType, O extends z.ZodType>(
  name: string,
  { version, input, output }: { readonly version: number; readonly input: I; readonly output: O },
  fn: (input: z.output<I>) => z.input<O>,
): (input: In<z.input<I>>) => AnsweringActivity<never, z.output<O>> {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))
    throw new TypeError(`Invalid function name "${name}": begin with a letter, and use at most 64 letters, digits, "-" and "_".`);
  if (!Number.isSafeInteger(version) || version < 1) throw new TypeError(`version: expected a whole number from 1, got ${version}.`);

  const versioned = `${name}@${version}`;
  const call = (given: Json): Json => withinTimeLimit(versioned, () => output.parse(fn(input.parse(given))) as Json);
  registerFunction(versioned, (given) => reportingErrors(`the function ${versioned}`, () => call(given)));
  return (given) => recordAnswering({ activity: 'compute', name, function: versioned, input: given });
}
