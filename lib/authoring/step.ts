import { type Activity, record, recordedIn, type Shape } from './activity.ts';
import { expression, fieldOf, type Ref } from './expression.ts';

/** A step in the making: an operation of an agent, called like a function. */
export interface StepActivity<out F extends string, O> extends Activity<F> {
  /** What the agent will answer, for the inputs of later steps. */
  readonly output: Ref<O>;
  /**
   * The step that takes back what this one did, from what this one answered. It runs when a scope around it is
   * compensated, and is repeated until it succeeds: its own faults go nowhere.
   */
  undo<G extends string>(by: (output: Ref<O>) => StepActivity<G, unknown>): StepActivity<F, O>;
  /** There is nothing to take back: what it did is meant to stay when a scope around it is compensated. `check` then asks for no undo. */
  lasting(): StepActivity<F, O>;
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
    lasting: () => recordStep<F, O>({ ...shape, lasting: true }, undoBy),
  }) as StepActivity<F, O>;
};
