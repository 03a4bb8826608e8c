import { type Activity, record, recordedIn, type Shape } from './activity.ts';
import { expression, fieldOf, type Ref } from './expression.ts';

/** An activity that closes with an answer. */
export interface AnsweringActivity<out F extends string, O> extends Activity<F> {
  /** What it will have answered, for expressions of later activities. */
  readonly output: Ref<O>;
}

/** A step in the making: an operation of an agent, called like a function. */
export interface StepActivity<out F extends string, O> extends AnsweringActivity<F, O> {
  /**
   * The step that takes back what this one did, from what this one answered. It runs when a scope around it is
   * compensated, and is repeated until it succeeds: its own faults go nowhere.
   */
  undo<G extends string>(by: (output: Ref<O>) => StepActivity<G, unknown>): StepActivity<F, O>;
  /**
   * Seconds for all attempts of the step together. When they are over it fails with `DeadlineExceeded`, which a handler may take; whether
   * it was done is found out before it is undone.
   */
  within(seconds: number): StepActivity<F, O>;
  /** There is nothing to take back: what it did is meant to stay when a scope around it is compensated. `check` then asks for no undo. */
  noUndo(): StepActivity<F, O>;
}

export type UndoBy<O> = (output: Ref<O>) => Activity<string>;

/** The undo is recorded anew under each name: it says the name under which the step is read. */
export const recordStep = <F extends string, O>(shape: Shape, undoBy?: UndoBy<O>): StepActivity<F, O> => {
  const output = expression<O>(fieldOf('steps', shape.name));
  const undo = undoBy ? { undo: { ...recordedIn(undoBy(output)).shape, name: 'undo' } } : {};
  return record({ ...shape, ...undo }, true, {
    output,
    named: (name: string) => recordStep<F, O>({ ...shape, name }, undoBy),
    undo: (by: UndoBy<O>) => recordStep<F, O>(shape, by),
    within: (seconds: number) => recordStep<F, O>({ ...shape, withinSeconds: seconds }, undoBy),
    noUndo: () => recordStep<F, O>({ ...shape, noUndo: true }, undoBy),
  }) as StepActivity<F, O>;
};

/** An activity that answers and has nothing to undo. Its answer is read under its name, so that is the author's to choose. */
export const recordAnswering = <A extends AnsweringActivity<never, unknown>>(
  shape: Shape,
  membersOf: (shape: Shape) => object = () => ({}),
): A =>
  record(shape, true, {
    ...membersOf(shape),
    output: expression(fieldOf('steps', shape.name)),
    named: (name: string) => recordAnswering<A>({ ...shape, name }, membersOf),
  }) as unknown as A;
