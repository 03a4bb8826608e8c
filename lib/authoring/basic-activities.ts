import { type Activity, leaf } from './activity.ts';
import { celOf, type Expr, expression, fieldOf, type In, type Ref } from './expression.ts';
import type { FaultType } from './fault.ts';

/** Waits. No process holds the order meanwhile. */
export const delay = ({ seconds }: { seconds: number | Expr<number> }): Activity<never> =>
  leaf({ activity: 'delay', name: 'delay', seconds });

/** The data of a fault: JSON with expressions in it. */
export type Data = string | number | boolean | null | Expr<unknown> | readonly Data[] | { readonly [field: string]: Data };

/** Raises a fault, as if a step had failed with it. */
export const raise = <P extends string>(fault: FaultType<P>, message: In<string>, data?: Data): Activity<P> =>
  leaf({ activity: 'raise', name: 'raise', fault: fault.path, message, ...(data === undefined ? {} : { data }), ...fault.details });

/** Raises the caught fault again. A handler gets this function in its argument, as `rethrow`. */
export const rethrow = (): Activity<never> => leaf({ activity: 'rethrow', name: 'rethrow' });

/** Ends the order immediately, without any undo. */
export const terminate = (): Activity<never> => leaf({ activity: 'terminate', name: 'terminate' });

/**
 * Undoes what was completed inside a scope, newest first. In a fault handler the default is the composite of the handler; elsewhere, name
 * the scope.
 */
export const compensate = (scope?: string): Activity<never> =>
  leaf({ activity: 'compensate', name: 'compensate', ...(scope === undefined ? {} : { scope }) });

declare const assigned: unique symbol;

/** A variable of the order. `assign(…)` sets it; expressions read it like any other path. */
export type Variable<T> = Ref<T> & { readonly [assigned]: T };

type Typed<T> = [T] extends [never] ? { 'say what it holds': 'variable<number>(…)' } : unknown;

type Variables<T> = [T] extends [never]
  ? { 'name the variables and their types': 'variables<{ left: number }>()' }
  : { readonly [K in keyof T]-?: Variable<T[K]> };

/** Declares the variables of an order: `const vars = variables<{ left: number }>()`, then `vars.left`. */
export const variables = <T extends object = never>(): Variables<T> => expression('vars') as unknown as Variables<T>;

/** Declares one variable. Unlike a field of `variables`, its name may be computed. */
export const variable = <T = never>(name: string & Typed<T>): Variable<T> => expression<T>(fieldOf('vars', name)) as unknown as Variable<T>;

/** Sets a variable of the order: `assign(left, cel`${left} - 1`)`. Every variable must be set before an expression reads it. */
export const assign = <T>(variable: Variable<T>, value: In<NoInfer<T>>): Activity<never> => {
  const [, name] = /^vars\.(\w+)$/.exec(celOf(variable)) ?? [];
  if (name === undefined) throw new TypeError(`Expected a variable such as variables<{ left: number }>().left, got ${celOf(variable)}.`);
  return leaf({ activity: 'assign', name: `set-${name}`, variable: name, value });
};
