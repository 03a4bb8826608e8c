import { type Activity, recordedIn, type Shape } from './activity.ts';
import { type Composite, composite } from './composite.ts';
import { celOf, type Expr, expression, fieldOf, type Ref } from './expression.ts';

/** Repeats an activity while a condition holds, which is asked before each turn. */
export const whilst = <F extends string>(
  condition: Expr<boolean>,
  activity: Activity<F>,
  options: { readonly maxTurns?: number } = {},
): Composite<F> => composite({ activity: 'while', name: 'while', condition, ...options, do: recordedIn(activity).shape });

/** A turn of a `forEach` after which the other entries need not be gone through. */
export interface Turn<out F extends string> {
  readonly do: Activity<F>;
  /** Asked as each turn closes, and may read what its steps answered; once it holds, the other turns are cancelled. */
  readonly until: Expr<boolean>;
}

export type TurnOf<T, F extends string> = (item: Ref<T>, index: Expr<number>) => Activity<F> | Turn<F>;

export interface ForEachOptions {
  /** Turns at work at the same time: 1 is one after the other; 20 where it says nothing. */
  readonly maxConcurrency?: number;
}

/**
 * Does something for each entry of a list. It is named for the list (`order.items`: `items`), unless `.named(…)` says
 * otherwise. The function runs when the workflow is described, once for each name.
 */
export function forEach<T, F extends string = never>(
  list: Expr<readonly T[]>,
  turn: TurnOf<T, F>,
  options: ForEachOptions = {},
): Composite<F> {
  const renamed = (name: string): Shape => {
    const each = fieldOf('each', name);
    const body = turn(expression<T>(`${each}.item`), expression<number>(`${each}.index`));
    const { do: activity, until } = 'until' in body ? body : { do: body, until: undefined };
    const shape = { activity: 'forEach', name, list, ...options, do: recordedIn(activity).shape };
    return until === undefined ? shape : { ...shape, until };
  };
  return composite(renamed(nameFor(list)), { fixed: true, renamed });
}

const nameFor = (list: Expr<unknown>): string => /^[\w.]*\.([A-Za-z]\w{0,63})$/.exec(celOf(list))?.[1] ?? 'each';
