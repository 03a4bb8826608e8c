import type { RemoteStep } from '#core/activities/step';
import { engineFault, engineFaults, type Fault } from '#core/data/fault';
import type { StepState } from '#core/data/step-state';

/** Returns the fault of an attempt that got no reply, or only "not now", before its time limit. */
export function noAnswer({ atMostOnce = false }: Pick<RemoteStep, 'atMostOnce'>, step: StepState | undefined): Fault {
  if (atMostOnce && step?.phase === 'requested')
    return engineFault(engineFaults.outcomeUnknown, 'No reply came in time. The operation runs at most once, so its outcome is unknown.', {
      outcomeUnknown: true,
    });
  return engineFault(engineFaults.deadlineExceeded, `No attempt was answered in time. ${lastHeard(step)}`, {
    outcomeUnknown: true,
    permanent: false,
  });
}

/** Returns a sentence about the last failure that the agent has reported for a step. */
export function lastHeard(step: Pick<StepState, 'phase' | 'reason'> | undefined): string {
  // An agent whose tries outlast the time of the attempt sends no reply, even if the service has refused each try.
  if (step?.reason === undefined) return 'The agent sent no reply: the tries took too long, or the agent does not run.';
  return step.phase === 'failedForNow'
    ? `The last attempt failed: ${step.reason}`
    : `The last failure that the agent reported: ${step.reason}`;
}
