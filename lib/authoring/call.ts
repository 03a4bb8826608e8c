import { outputVariable, workflowsAgent } from '#core/data/child-order';
import { workflowRef } from '#core/definition/workflow-ref';
import { type Activity, leaf, recordedIn, type Shape } from './activity.ts';
import { sequence } from './blocks.ts';
import { composite } from './composite.ts';
import type { In, ValueOf } from './expression.ts';
import { recordStep, type StepActivity } from './step.ts';
import type { Workflow } from './workflow.ts';

declare const output: unique symbol;

/** The type of a workflow's output. */
export interface WithOutput<out R> {
  readonly [output]?: () => R;
}

/**
 * Gives a workflow its output: a literal, an expression, or a mixture of both, of at most 16 KB and without secret fields. `withOutput`
 * wraps the whole workflow. The output is computed when the activity has succeeded, and only a completed order has an output. The client
 * reads it as `output` of the order, a calling workflow as `.output` of its `call`.
 */
export const withOutput = <F extends string, const V>(activity: Activity<F>, value: V): Activity<F> & WithOutput<ValueOf<V>> => {
  const result = leaf<never>({ activity: 'assign', name: 'output', variable: outputVariable, value });
  const { shape, fixed } = recordedIn(activity);
  const isPlain = shape.activity === 'sequence' && !fixed && !('undo' in shape);
  // Extending the sequence saves one level in the step paths, and its handlers still compensate the whole order.
  if (isPlain) return composite({ ...shape, children: [...(shape['children'] as readonly Shape[]), recordedIn(result).shape] });
  return sequence(activity, result);
};

const called = Symbol('called workflow');

/** Returns the workflow that a recorded call refers to. */
export const calledBy = (shape: object): Workflow | undefined => (shape as { readonly [called]?: Workflow })[called];

/**
 * Runs another workflow as a called order with this body. It succeeds when that order completes; `.output` is its output. It fails after
 * the called order is undone: with one of its `toCaller` faults, or with `ChildNotCompleted`. `ChildNotCompleted` also follows if a
 * person terminates the called order, whose effects then stay. The undo of a call compensates the called order, unless `.undo(…)` names
 * another step.
 */
export const call = <I, R, C extends string>(workflow: Workflow<I, R, C>, order: In<I>): StepActivity<C, R> => {
  const { name, toCaller = [] } = workflow;
  const faults = toCaller.length > 0 ? { faults: toCaller } : {};
  const operation = workflowRef(workflow);
  const shape = { activity: 'call', name, agent: workflowsAgent, operation, input: order, ...faults, [called]: workflow };
  return recordStep<C, R>(shape, () => recordStep({ activity: 'step', name: 'undo', agent: workflowsAgent, operation: 'undo', input: {} }));
};
