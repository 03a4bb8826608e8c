import { resultVariable, workflowsAgent } from '#core/data/child-order';
import { workflowRef } from '#core/definition/workflow-ref';
import { type Activity, recordedIn, type Shape } from './activity.ts';
import { assign, variable } from './basic-activities.ts';
import { sequence } from './blocks.ts';
import { composite } from './composite.ts';
import type { In, ValueOf } from './expression.ts';
import { recordStep, type StepActivity } from './step.ts';
import type { Workflow } from './workflow.ts';

declare const answer: unique symbol;

/** The type of a workflow's answer to its caller. */
export interface Answering<out R> {
  readonly [answer]?: () => R;
}

/** Adds the workflow's answer to its caller: a literal, an expression, or a mixture. It wraps the whole workflow. */
export const answering = <F extends string, const V>(activity: Activity<F>, value: V): Activity<F> & Answering<ValueOf<V>> => {
  const result = assign(variable<unknown>(resultVariable), value as In<unknown>);
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
 * Runs another workflow as a called order with this body. It succeeds when that order completes; `.output` is its answer. It fails after
 * the called order is undone: with one of its `toCaller` faults, or with `ChildNotCompleted`. Its undo compensates the called order,
 * unless `.undo(…)` names another step.
 */
export const call = <I, R, C extends string>(workflow: Workflow<I, R, C>, order: In<I>): StepActivity<C, R> => {
  const { name, toCaller = [] } = workflow;
  const faults = toCaller.length > 0 ? { faults: toCaller } : {};
  const operation = workflowRef(workflow);
  const shape = { activity: 'call', name, agent: workflowsAgent, operation, input: order, ...faults, [called]: workflow };
  return recordStep<C, R>(shape, () => recordStep({ activity: 'step', name: 'undo', agent: workflowsAgent, operation: 'undo', input: {} }));
};
