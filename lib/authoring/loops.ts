import { isObject } from '#core/data/json';
import { type Activity, recordedIn, type Shape } from './activity.ts';
import { type Composite, composite } from './composite.ts';
import { expectFunction } from './definition-error.ts';
import { celOf, type Expr, expression, fieldOf, type Ref, type ValueOf } from './expression.ts';
import { recordingPart } from './origin.ts';

/** Repeats an activity while a condition holds. The condition is evaluated before each turn. */
export const repeatWhile = <F extends string>(
  condition: Expr<boolean>,
  activity: Activity<F>,
  options: { readonly maxTurns?: number } = {},
): Composite<F> => composite({ activity: 'while', name: 'while', condition, ...options, do: recordedIn(activity).shape });

/** A turn of a `forEach` with `until` or `collect`. */
export interface Turn<out F extends string, out C = never> {
  readonly do: Activity<F>;
  /** A condition evaluated after each turn, with the outputs of its steps. When it holds, open turns are canceled, and none starts. */
  readonly until?: Expr<boolean>;
  /**
   * The result of each turn: an expression, or values with expressions in them. The loop's `output` lists these results in the order of
   * the items.
   */
  readonly collect?: C;
}

/** The items of a `forEach`: a path to a list, or a literal list, with or without expressions. */
export type List = Expr<readonly unknown[]> | readonly unknown[];

export type EntryOf<L extends List> = L extends Expr<readonly (infer T)[]> ? T : L extends readonly (infer U)[] ? ValueOf<U> : never;

export type TurnOf<T, F extends string, C = never> = (item: Ref<T>, index: Expr<number>) => Activity<F> | Turn<F, C>;

export interface ForEachOptions {
  /** The most turns that run at the same time. With 1 they run one after the other; the default is 20. */
  readonly maxConcurrency?: number;
}

/** A loop that collects a result from each turn. */
export interface Collecting<out F extends string, O> extends Composite<F> {
  /** One result for each turn that succeeded, in the order of the items. Available after the loop is complete. */
  readonly output: Ref<O[]>;
}

/**
 * Runs a turn for each item of a list. The loop's name is the last part of the list's path (`order.items`: `items`), or `each` for a list
 * that is not a path, unless `.named(…)` sets one. The function runs when the workflow is defined, and again for each `.named(…)`.
 */
export function forEach<const L extends List, F extends string = never, const C = never>(
  list: L,
  turn: TurnOf<EntryOf<L>, F, C>,
  options: ForEachOptions = {},
): [C] extends [never] ? Composite<F> : Collecting<F, ValueOf<C>> {
  expectFunction(turn, 'forEach(order.items, (item) => …)');
  const recordTurn = (name: string): Shape => {
    const each = fieldOf('each', name);
    const body = turn(expression<EntryOf<L>>(`${each}.item`), expression<number>(`${each}.index`));
    const { do: activity, ...more } = isTurn(body) ? body : { do: body };
    return { activity: 'forEach', name, list, ...options, do: recordedIn(activity).shape, ...more };
  };
  const renamed = (name: string): Shape => recordingPart(() => recordTurn(name));
  const loop: Composite<F> = composite(renamed(nameFor(list)), { fixed: true, renamed });
  return loop as [C] extends [never] ? Composite<F> : Collecting<F, ValueOf<C>>;
}

/** Whether the function returned a `Turn`. If it has no return, the body is undefined, which `recordedIn` reports. */
const isTurn = <F extends string, C>(body: Activity<F> | Turn<F, C>): body is Turn<F, C> => isObject(body) && 'do' in body;

const nameFor = (list: List): string => (Array.isArray(list) ? 'each' : (/^[\w.]*\.([A-Za-z]\w{0,63})$/.exec(celOf(list))?.[1] ?? 'each'));
