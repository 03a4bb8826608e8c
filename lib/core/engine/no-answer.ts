import type { RemoteStep } from '#core/activities/step';
import { engineFault, engineFaults, type Fault } from '#core/data/fault';
import type { StepState } from '#core/data/step-state';

/** Returns the fault of an attempt that got no reply, or only "not now", before its time limit. */
export function noAnswer({ atMostOnce = false }: Pick<RemoteStep, 'atMostOnce'>, step: StepState | undefined): Fault {
  if (atMostOnce && step?.phase === 'requested')
    return engineFault(engineFaults.outcomeUnknown, 'No reply came in time. The operation runs at most once, so its outcome is unknown.', {
      outcomeUnknown: true,
    });
  const last = step?.reason === undefined ? '' : ` The last reply was "not now": ${step.reason}`;
  return engineFault(engineFaults.deadlineExceeded, `No attempt was answered in time.${last}`, {
    outcomeUnknown: true,
    permanent: false,
  });
}
