import { type Activity, record, recordedIn, type Shape } from './activity.ts';
import { expectFunction } from './definition-error.ts';
import { type Expr, expression, fieldOf, type Ref } from './expression.ts';
import { recordingPart, withOrigin } from './origin.ts';

/** An activity that completes with an output. */
export interface AnsweringActivity<out F extends string, O> extends Activity<F> {
  /** The output, for expressions of later activities. */
  readonly output: Ref<O>;
}

/** A step, as its author builds it: an operation of an agent, called like a function. */
export interface StepActivity<out F extends string, O> extends AnsweringActivity<F, O> {
  /**
   * Names the step that undoes this one, built from its output. The undo runs when a surrounding scope is compensated, and is requested
   * until it succeeds; no handler takes its faults.
   */
  undo<G extends string>(by: (output: Ref<O>) => StepActivity<G, unknown>): StepActivity<F, O>;
  /**
   * Limits all attempts of the step together, in seconds. After that it fails with `DeadlineExceeded`, which a handler may take. Before
   * any undo, the engine confirms whether the effect exists.
   */
  within(seconds: number): StepActivity<F, O>;
  /**
   * Says what the workflow expects of the answer: `.expecting((output) => greaterThan(output.amount, 0), 'an amount above 0')`. Any other
   * answer raises the fault `InvalidReply`. The effect of the step exists nevertheless, and is undone like any other.
   */
  expecting(condition: (output: Ref<O>) => Expr<boolean>, what: string): StepActivity<F, O>;
  /**
   * Declares that this step needs no undo: its effect stays when a surrounding scope is compensated. `check` then accepts the step without
   * an undo.
   */
  noUndo(): StepActivity<F, O>;
}

export type UndoBy<O> = (output: Ref<O>) => Activity<string>;

/** Records the undo again for each name, because the undo refers to the step by its name. */
export const recordStep = <F extends string, O>(recorded: Shape, undoBy?: UndoBy<O>): StepActivity<F, O> => {
  const shape = withOrigin(recorded);
  const output = expression<O>(fieldOf('steps', shape.name));
  const undo = undoBy ? { undo: { ...recordingPart(() => recordedIn(undoBy(output)).shape), name: 'undo' } } : {};
  return record({ ...shape, ...undo }, true, {
    output,
    named: (name: string) => recordStep<F, O>({ ...shape, name }, undoBy),
    undo(by: UndoBy<O>) {
      expectFunction(by, '.undo((output) => …)');
      return recordStep<F, O>(shape, by);
    },
    within: (seconds: number) => recordStep<F, O>({ ...shape, withinSeconds: seconds }, undoBy),
    expecting(condition: (output: Ref<O>) => Expr<boolean>, what: string) {
      expectFunction(condition, ".expecting((output) => …, 'what is expected')");
      return recordStep<F, O>({ ...shape, expects: { condition: condition(output), what } }, undoBy);
    },
    noUndo: () => recordStep<F, O>({ ...shape, noUndo: true }, undoBy),
  }) as StepActivity<F, O>;
};

/** Creates an activity with an output and no undo. Expressions read the output by the activity's name, so the name is fixed. */
export const recordAnswering = <A extends AnsweringActivity<never, unknown>>(
  recorded: Shape,
  membersOf: (shape: Shape) => object = () => ({}),
): A => {
  const shape = withOrigin(recorded);
  return record(shape, true, {
    ...membersOf(shape),
    output: expression(fieldOf('steps', shape.name)),
    named: (name: string) => recordAnswering<A>({ ...shape, name }, membersOf),
  }) as unknown as A;
};
