import { resultVariable, workflowsAgent } from '#core/data/child-order';
import { type Activity, recordedIn, type Shape } from './activity.ts';
import { assign, variable } from './basic-activities.ts';
import { sequence } from './blocks.ts';
import { composite } from './composite.ts';
import type { In, ValueOf } from './expression.ts';
import { recordStep, type StepActivity } from './step.ts';
import type { Workflow } from './workflow.ts';

declare const answer: unique symbol;

/** What a workflow answers to whoever calls it. */
export interface Answering<out R> {
  readonly [answer]?: R;
}

/** The whole of a workflow, with what it answers to the workflow that calls it: a literal, expressions, or a mixture. */
export const answering = <F extends string, const V>(activity: Activity<F>, value: V): Activity<F> & Answering<ValueOf<V>> => {
  const result = assign(variable<unknown>(resultVariable), value as In<unknown>);
  const { shape, fixed } = recordedIn(activity);
  const isPlain = shape.activity === 'sequence' && !fixed && !('undo' in shape);
  // One level less in the paths of its steps; and what its handlers compensate is the whole order.
  if (isPlain) return composite({ ...shape, children: [...(shape['children'] as readonly Shape[]), recordedIn(result).shape] });
  return sequence(activity, result);
};

const called = Symbol('called workflow');

/** The workflow behind a recorded call. */
export const calledBy = (shape: object): Workflow | undefined => (shape as { readonly [called]?: Workflow })[called];

/**
 * Runs another workflow as a child, an order of its own with this body. It succeeds when that completes, with what it
 * answers as `.output`; it fails only once all that the child did is undone: with one of the faults in the child's
 * `toCaller`, or `ChildNotCompleted`. Undoing it undoes the child, unless `.undo(…)` names another step.
 */
export const call = <I, R, C extends string>(workflow: Workflow<I, R, C>, order: In<I>): StepActivity<C, R> => {
  const { name, version, toCaller = [] } = workflow;
  const faults = toCaller.length > 0 ? { faults: toCaller } : {};
  const operation = `${name}@${version}`;
  const shape = { activity: 'call', name, agent: workflowsAgent, operation, input: order, ...faults, [called]: workflow };
  return recordStep<C, R>(shape, () => recordStep({ activity: 'step', name: 'undo', agent: workflowsAgent, operation: 'undo', input: {} }));
};
