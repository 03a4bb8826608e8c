import { withOrigin } from './origin.ts';

declare const faults: unique symbol;
const recorded = Symbol('recorded activity');

/** An activity of a workflow, as its author builds it. F is the union of the faults that can still leave it. */
export interface Activity<out F extends string> {
  readonly [faults]?: () => F;
  /** Returns the same activity under another name. Siblings need different names. */
  named(name: string): this;
}

export type FaultsOf<A> = A extends Activity<infer F> ? F : never;

/** The record of an activity: one node of the definition. */
export interface Shape {
  readonly activity: string;
  readonly name: string;
  readonly [key: string]: unknown;
}

interface Recorded {
  readonly shape: Shape;
  /** Whether the author chose the name, or expressions refer to it. Only a name that is not fixed may get a number from `distinct`. */
  readonly fixed: boolean;
}

/** Creates an activity that records a shape, with further members such as `output` or `on`. */
export const record = <M extends object>(shape: Shape, fixed: boolean, members: M): M =>
  Object.assign({ [recorded]: { shape, fixed }, toJSON: () => shape }, members);

/** Returns the recorded shape of an activity; throws a TypeError for anything else. */
export const recordedIn = (activity: Activity<string>): Recorded => {
  const found = (activity as { readonly [recorded]?: Recorded } | undefined | null)?.[recorded];
  if (!found)
    throw new TypeError(
      `Expected an activity: a step such as payment.charge({…}), sequence(…), parallel(…) or delay(…); got ${described(activity)}.`,
    );
  return found;
};

/** Describes a value that is not an activity, with the usual mistake behind it. */
function described(value: unknown): string {
  if (value === undefined) return 'undefined. A function in braces needs a return';
  if (value instanceof Promise) return 'a promise. The function must not be async';
  if (Array.isArray(value)) return 'an array. Write its activities as arguments: sequence(...activities)';
  return typeof value === 'function' ? 'a function. Call it with its input' : typeof value;
}

/** Creates an activity without children. */
export const leaf = <F extends string>(recorded: Shape, fixed = false): Activity<F> => {
  const shape = withOrigin(recorded);
  return record(shape, fixed, { named: (name: string) => leaf({ ...shape, name }, true) }) as Activity<F>;
};

/** Gives siblings different names: equal default names get a number, from the second one on. */
export const distinct = (children: readonly Activity<string>[]): readonly Shape[] => {
  const all = children.map(recordedIn);
  const taken = new Set(all.filter(({ fixed }) => fixed).map(({ shape }) => shape.name));
  return all.map(({ shape, fixed }) => {
    if (fixed) return shape;
    let name = shape.name;
    for (let number = 2; taken.has(name); number++) name = `${shape.name}-${number}`;
    taken.add(name);
    return { ...shape, name };
  });
};
