import type { Activity } from './activity.ts';
import { choice, otherwise, when } from './blocks.ts';
import type { Composite } from './composite.ts';
import { celOf, conjunct, type Expr, expression, isExpression, literalOf, operand } from './expression.ts';

/** Compiles only for a path that is always there. The compiler shows the sentence for other paths. */
type Present<T> = undefined extends T ? { 'this value may be missing: use orElse(path, value), or test has(path)': T } : unknown;

/** Compiles only for a condition. */
type Condition<T> = [T] extends [boolean]
  ? unknown
  : [T] extends [boolean | undefined]
    ? Present<T>
    : { 'not a condition: compare the value, as in greaterThan(order.total, 100)': T };

type Scalar = string | number | boolean | null;

/** A literal must be one of the values of T; an expression must only have the same basic type. */
type Comparable<T> = T | Expr<T extends string ? string : T extends number ? number : T extends boolean ? boolean : T>;

/** Runs an activity if a condition holds; otherwise another one, if there is one. It is a `choice` with one condition. */
export const ifTrue = <T, F extends string, G extends string = never>(
  condition: Expr<T> & Condition<T>,
  activity: Activity<F>,
  elseActivity?: Activity<G>,
): Composite<F | G> => {
  celOf(condition);
  const branch = when(condition as Expr<boolean>, activity);
  return elseActivity ? choice(branch, otherwise(elseActivity)) : choice(branch);
};

/** Holds if the condition does not: `!order.paid`. */
export const not = <T>(condition: Expr<T> & Condition<T>): Expr<boolean> => relation(`!${operand(condition)}`);

type Conditions = readonly [Expr<boolean>, Expr<boolean>, ...Expr<boolean>[]];

/** Holds if all conditions hold. */
export const and = (...conditions: Conditions): Expr<boolean> => expression(conditions.map(conjunct).join(' && '));

/** Holds if at least one condition holds. */
export const or = (...conditions: Conditions): Expr<boolean> => expression(conditions.map(conjunct).join(' || '));

/** Holds if a path has this value: `order.kind == "gift"`. */
export const equals = <T extends Scalar | undefined>(path: Expr<T> & Present<T>, value: Comparable<NoInfer<T>>): Expr<boolean> =>
  compare(path, '==', value);

type Comparison = <T extends string | number | undefined>(path: Expr<T> & Present<T>, value: Comparable<NoInfer<T>>) => Expr<boolean>;

export const greaterThan: Comparison = (path, value) => compare(path, '>', value);
export const atLeast: Comparison = (path, value) => compare(path, '>=', value);
export const lessThan: Comparison = (path, value) => compare(path, '<', value);
export const atMost: Comparison = (path, value) => compare(path, '<=', value);

/** Holds if an optional field is there: `has(order.note)`. */
export const has = (path: Expr<unknown>): Expr<boolean> => {
  const text = celOf(path);
  if (!/^\w+(\.\w+)+$/.test(text)) throw new TypeError(`Expected a path such as order.note, got ${text}.`);
  return relation(`has(${text})`);
};

const relation = (text: string): Expr<boolean> => expression(text, true);

const compare = (path: Expr<unknown>, operator: string, value: unknown): Expr<boolean> =>
  relation(`${operand(path)} ${operator} ${isExpression(value) ? operand(value) : literalOf(value)}`);
