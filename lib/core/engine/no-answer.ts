import type { Step, StepState } from '#core/activities/step';
import { engineFault, engineFaults, type Fault } from '#core/data/fault';

/** What becomes of an attempt that is not answered, or only "not now", until it is given up. */
export function noAnswer({ atMostOnce = false }: Pick<Step, 'atMostOnce'>, { phase, reason }: Partial<StepState>): Fault {
  if (atMostOnce && phase === 'requested')
    return engineFault(
      engineFaults.outcomeUnknown,
      'No answer came in time. It may be asked for only once, so nobody knows whether it was done.',
      { outcomeUnknown: true },
    );
  const last = reason === undefined ? '' : ` The last answer was "not now": ${reason}`;
  return engineFault(engineFaults.deadlineExceeded, `No answer came in time, however often it was asked.${last}`, {
    outcomeUnknown: true,
    permanent: false,
  });
}
