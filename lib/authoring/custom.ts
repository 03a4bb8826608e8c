import { engineFault, engineFaults } from '#core/data/fault';
import { reasonOf } from '#core/data/thrown';
import { registerActivity } from '#core/definition/custom';
import type { ActivityBase, CelExpression, Activity as Node } from '#core/definition/definition';
import { type Behavior, raise } from '#core/engine/behavior';
import { type Activity, distinct, type FaultsOf, leaf } from './activity.ts';
import { type Composite, composite } from './composite.ts';
import type { Expr } from './expression.ts';
import type { FaultType } from './fault.ts';
import { reportingErrors } from './function-errors.ts';

/** The child activities of a custom activity, by the names of its parts: `do`, `last`. */
export type Parts = { readonly [part: string]: Activity<string> };

/** A field as the definition holds it: expressions are `{"$cel": "…"}`, for `evaluate`. */
type Recorded<T> =
  T extends Expr<unknown>
    ? CelExpression
    : T extends readonly (infer U)[]
      ? readonly Recorded<U>[]
      : T extends object
        ? { readonly [K in keyof T]: Recorded<T[K]> }
        : T;

/** A custom activity in a definition: its fields, and its parts as nodes of the tree. */
export type CustomNode<Fields, P extends string> = ActivityBase & Recorded<Fields> & { readonly [part in P]: Node };

/** The behavior of a custom activity. It must be pure: see `Behavior`. */
export type CustomBehavior<Fields, S, P extends string> = Omit<Behavior<CustomNode<Fields, P>, S>, 'children' | 'templates'> & {
  /** Returns all fields that contain expressions. */
  readonly templates?: Behavior<CustomNode<Fields, P>, S>['templates'];
};

type FaultsOfParts<A extends Parts> = FaultsOf<A[keyof A]>;

/**
 * Defines a custom activity under a namespaced name (`shop:ensure`), by the functions of the built-in ones: `execute`, `childClosed`,
 * `woken`, `handleFault` and `cancel`. Returns the function with which workflows use it. A workflow may add an undo of the whole:
 * `.undo(…)`.
 *
 * const ensure = defineActivity<{}, State, 'do' | 'last'>('shop:ensure', ['do', 'last'], { execute: …, … });
 * ensure({}, { do: payment.charge({…}), last: inventory.unlock({…}) })
 */
export function defineActivity<Fields extends object, S, const P extends string = never>(
  type: `${string}:${string}`,
  parts: readonly P[],
  behavior: CustomBehavior<Fields, S, P>,
): <A extends { readonly [part in P]: Activity<string> }>(fields: Fields, inside: A) => Composite<FaultsOfParts<A>> {
  if (!/^[a-z][a-z0-9-]{0,31}:[a-z][a-zA-Z0-9-]{0,31}$/.test(type))
    throw new TypeError(`Invalid activity name "${type}": use a namespace, ":" and a name, such as "shop:ensure".`);

  const children = (node: CustomNode<Fields, P>) => parts.map((part) => (node as unknown as { readonly [part in P]: Node })[part]);
  registerActivity(type, guarded(type, { templates: () => [], ...behavior, children } as unknown as Behavior));
  const name = type.slice(type.indexOf(':') + 1);
  return (fields, inside) => {
    const shapes = distinct(parts.map((part) => inside[part]));
    const recorded = Object.fromEntries(parts.map((part, index) => [part, shapes[index]]));
    return composite({ activity: type, name, ...fields, ...recorded });
  };
}

/**
 * Returns a behavior whose errors the host can show. An error in `execute` becomes the fault `ProgrammingError`. An error of any other
 * function stays an exception: the host stores nothing, and the queue delivers the message of that event again.
 */
function guarded(type: string, behavior: Behavior): Behavior {
  const reporting = Object.entries(behavior).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'function' ? (...given: unknown[]) => reportingErrors(`${type}, ${name}`, () => value(...given)) : value,
  ]);
  const watched = Object.fromEntries(reporting) as Behavior;
  return {
    ...watched,
    execute(activity, context) {
      try {
        return watched.execute(activity, context);
      } catch (error) {
        return raise(engineFault(engineFaults.programmingError, `${type}: ${reasonOf(error)}`, { class: 'application-failure' }));
      }
    },
  };
}

/** Defines a custom activity without children. Its own faults are declared with `faults`. */
export function defineLeafActivity<Fields extends object, S, const F extends string = never>(
  type: `${string}:${string}`,
  behavior: CustomBehavior<Fields, S, never>,
  { faults = [] }: { readonly faults?: readonly FaultType<F>[] } = {},
): (fields: Fields) => Activity<F> {
  defineActivity<Fields, S>(type, [], behavior);
  const declared = faults.length > 0 ? { faults: faults.map(({ path }) => path) } : {};
  return (fields) => leaf({ activity: type, name: type.slice(type.indexOf(':') + 1), ...fields, ...declared });
}
