import { workflowsAgent } from '#core/data/child-order';
import { deadlinePassed } from '#core/data/fault';
import type { Behavior } from '#core/engine/behavior';
import { requestAgain, type Step, type StepState, step } from './step.ts';

/**
 * Runs another workflow as a child, an order of its own. Its agent is the engine; its operation is the workflow with its
 * version (`ship-one@1`), its input that order's body. It fails only when nothing of the child is left.
 */
export interface Call extends Omit<Step, 'activity'> {
  readonly activity: 'call';
}

const asStep = (call: Call): Step => call as unknown as Step;

export const call: Behavior<Call, StepState> = {
  ...(step as unknown as Behavior<Call, StepState>),
  problems: ({ agent, operation, withinSeconds }) => [
    ...(withinSeconds === undefined
      ? []
      : ['A call has no time limit of its own: give the workflow that it calls completeWithinSeconds, and leave out .within(…).']),
    ...(agent === workflowsAgent ? [] : [`Its agent is "${agent}"; the agent of a call is "${workflowsAgent}".`]),
    ...(/^[a-z][a-z0-9-]{0,63}@[1-9]\d*$/.test(operation) ? [] : [`"${operation}" names no workflow: its name, "@" and its version.`]),
  ],
  // A child takes the time that it takes: whether it is late, its own workflow says.
  woken(call, local, context) {
    if (local.mode !== undefined) return step.woken?.(asStep(call), local, context);
    if (context.at < local.completeBy || !isOpen(local)) return undefined;
    const { at, endBy } = context;
    if (endBy !== undefined && at >= endBy) return { state: { ...local, phase: 'unknown' }, raise: deadlinePassed };
    return requestAgain(call, local, context, endBy);
  },
  wakeAt: (local) => (local.mode === undefined && isOpen(local) ? local.completeBy : step.wakeAt?.(local)),
};

const isOpen = ({ phase }: StepState): boolean => phase === 'requested' || phase === 'failedForNow';
