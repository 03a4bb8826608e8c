import { workflowsAgent } from '#core/data/child-order';
import { deadlinePassed } from '#core/data/fault';
import { awaitsReply, type StepState } from '#core/data/step-state';
import { type Behavior, raise } from '#core/engine/behavior';
import { requestAgain } from '#core/engine/step-attempts';
import { type RemoteStep, step } from './step.ts';

/**
 * Runs another workflow as a separate order (child workflow). The agent of a call is the engine, its operation is the
 * other workflow with its version (`ship-one@1`), and its input is the body of the called order. The call fails only
 * after all work of the called order is undone, or after a person has terminated that order.
 */
export interface Call extends RemoteStep {
  readonly activity: 'call';
}

export const call: Behavior<Call, StepState> = {
  ...step,
  problems: ({ agent, operation, withinSeconds }) => [
    ...(withinSeconds === undefined
      ? []
      : ['A call cannot have a time limit. Leave out .within(…), and set completeWithinSeconds in the called workflow.']),
    ...(agent === workflowsAgent ? [] : [`Its agent is "${agent}"; the agent of a call must be "${workflowsAgent}".`]),
    ...(/^[a-z][a-z0-9-]{0,63}@[1-9]\d*$/.test(operation)
      ? []
      : [`"${operation}" is not a workflow with a version. Write its name, "@" and its version: ship-one@1.`]),
  ],
  // A call never counts as late. The workflow of the called order sets the time limits.
  woken(call, local, context) {
    if (local.mode !== undefined) return step.woken?.(call, local, context);
    if (context.at < local.completeBy || !awaitsReply(local)) return undefined;
    const { at, endBy } = context;
    if (endBy !== undefined && at >= endBy) return raise(deadlinePassed, { ...local, phase: 'unknown' });
    return requestAgain(call, local, context, endBy);
  },
  wakeAt: (local) => (local.mode === undefined && awaitsReply(local) ? local.completeBy : step.wakeAt?.(local)),
};
