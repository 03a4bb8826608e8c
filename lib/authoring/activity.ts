import type { Template } from '../core/definition.ts';
import { type Expr, expression, fieldOf, type Ref } from './expression.ts';

declare const faults: unique symbol;
const recorded = Symbol('recorded activity');

/** An activity in the making. F is the union of the faults that can still leave it. */
export interface Activity<out F extends string> {
  readonly [faults]?: F;
}

/** A step in the making: an operation of an agent, called like a function. */
export interface StepActivity<out F extends string, O> extends Activity<F> {
  /** What the agent will answer, for the inputs of later steps. */
  readonly output: Ref<O>;
  /** The same step under another name. Siblings need different ones. */
  named(name: string): StepActivity<F, O>;
}

export type FaultsOf<A> = A extends Activity<infer F> ? F : never;

interface Shape {
  readonly activity: string;
  readonly name: string;
  readonly [key: string]: unknown;
}

const record = (shape: Shape): Activity<never> => ({ [recorded]: shape, toJSON: () => shape }) as Activity<never>;

/** The plain data behind an activity. */
export const shapeOf = (activity: Activity<string>): Shape => {
  const shape = (activity as { readonly [recorded]?: Shape })[recorded];
  if (!shape) throw new TypeError('An activity is wanted here: a step such as payment.charge({…}), sequence(…), parallel(…) or delay(…).');
  return shape;
};

export const recordStep = <F extends string, O>(shape: Shape): StepActivity<F, O> =>
  Object.assign(record(shape), {
    output: expression<O>(fieldOf('steps', shape.name)),
    named: (name: string) => recordStep<F, O>({ ...shape, name }),
  });

type Composite = <const A extends readonly Activity<string>[]>(...children: A) => Activity<FaultsOf<A[number]>>;

/** One after the other. */
export const sequence: Composite = (...children) =>
  record({ activity: 'sequence', name: 'sequence', children: distinct(children) }) as never;

/** Side by side; goes on when all are done. */
export const parallel: Composite = (...children) =>
  record({ activity: 'parallel', name: 'parallel', children: distinct(children) }) as never;

/** Waits; nobody holds the order meanwhile. */
export const delay = ({ seconds }: { seconds: number | Expr<number> }): Activity<never> =>
  record({ activity: 'delay', name: 'delay', seconds: seconds as Template });

/** Composites and delays name themselves; where siblings would be alike, the later ones get a number. */
const distinct = (children: readonly Activity<string>[]): readonly Shape[] => {
  const taken = new Map<string, number>();
  return children.map((child) => {
    const shape = shapeOf(child);
    const count = (taken.get(shape.name) ?? 0) + 1;
    taken.set(shape.name, count);
    return shape.activity === 'step' || count === 1 ? shape : { ...shape, name: `${shape.name}-${count}` };
  });
};
