import { registerActivity } from '#core/definition/custom';
import type { ActivityBase, CelExpression, Activity as Node } from '#core/definition/definition';
import type { Behavior } from '#core/engine/behavior';
import { type Activity, distinct, type FaultsOf, leaf } from './activity.ts';
import { type Composite, composite } from './composite.ts';
import type { Expr } from './expression.ts';
import type { FaultType } from './fault.ts';

/** The activities inside one of an app's own, by what they are for. */
export type Parts = { readonly [part: string]: Activity<string> };

/** A field as it stands in a definition: expressions are `{"$cel": "…"}` by then, for `evaluate`. */
type Recorded<T> =
  T extends Expr<unknown>
    ? CelExpression
    : T extends readonly (infer U)[]
      ? readonly Recorded<U>[]
      : T extends object
        ? { readonly [K in keyof T]: Recorded<T[K]> }
        : T;

/** How an app's own activity stands in a definition: its fields, and its parts as nodes of the tree. */
export type CustomNode<Fields, P extends string> = ActivityBase & Recorded<Fields> & { readonly [part in P]: Node };

/** What an app's own activity does. The engine asks it only for pure answers: see `Behavior`. */
export type CustomBehavior<Fields, S, P extends string> = Omit<Behavior<CustomNode<Fields, P>, S>, 'children' | 'templates'> & {
  /** All in it that holds expressions. */
  readonly templates?: Behavior<CustomNode<Fields, P>, S>['templates'];
};

type FaultsOfParts<A extends Parts> = FaultsOf<A[keyof A]>;

/**
 * Defines an activity of the app's own, under a name with a namespace (`shop:ensure`), by the verbs of the built-in
 * ones: `execute`, `childClosed`, `woken`, and, for trouble, `handleFault`, `cancel`. Its undo, if it is one as a whole,
 * is given where it is used: `.undo(…)`. It returns the function by which workflows use it:
 *
 *     const ensure = defineActivity<{}, State, 'do' | 'last'>('shop:ensure', ['do', 'last'], { execute: …, … });
 *     ensure({}, { do: payment.charge({…}), last: inventory.unlock({…}) })
 */
export function defineActivity<Fields extends object, S, const P extends string = never>(
  type: `${string}:${string}`,
  parts: readonly P[],
  behavior: CustomBehavior<Fields, S, P>,
): <A extends { readonly [part in P]: Activity<string> }>(fields: Fields, inside: A) => Composite<FaultsOfParts<A>> {
  if (!/^[a-z][a-z0-9-]{0,31}:[a-z][a-zA-Z0-9-]{0,31}$/.test(type))
    throw new TypeError(`"${type}" is no name for an activity: a namespace, ":", and a name, such as "shop:ensure".`);

  const children = (node: CustomNode<Fields, P>) => parts.map((part) => (node as unknown as { readonly [part in P]: Node })[part]);
  registerActivity(type, { templates: () => [], ...behavior, children } as unknown as Behavior);
  const name = type.slice(type.indexOf(':') + 1);
  return (fields, inside) => {
    const shapes = distinct(parts.map((part) => inside[part]));
    const recorded = Object.fromEntries(parts.map((part, index) => [part, shapes[index]]));
    return composite({ activity: type, name, ...fields, ...recorded });
  };
}

/** The same for an activity without others inside it, which may raise faults of its own. */
export function defineLeafActivity<Fields extends object, S, const F extends string = never>(
  type: `${string}:${string}`,
  behavior: CustomBehavior<Fields, S, never>,
  { faults = [] }: { readonly faults?: readonly FaultType<F>[] } = {},
): (fields: Fields) => Activity<F> {
  defineActivity<Fields, S>(type, [], behavior);
  const declared = faults.length > 0 ? { faults: faults.map(({ path }) => path) } : {};
  return (fields) => leaf({ activity: type, name: type.slice(type.indexOf(':') + 1), ...fields, ...declared });
}
