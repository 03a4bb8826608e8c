import { queueNames } from '#ports/messages';
import { createBulkRunner } from '#roles/bulk/runner';
import type { FunctionContext, Invocation } from '#runtime/function';
import { replyQueuesOf } from '#runtime/topology';

/**
 * Carries out bulk runs. An announcement starts the function at once for a new bulk run. The schedule starts it for a bulk run whose
 * process has stopped.
 */
export const create = ({ system, accepting }: FunctionContext) => {
  const schedulerQueues = [queueNames.wakeUps, ...replyQueuesOf(system.app)];
  const runner = createBulkRunner({ ...system, schedulerQueues });
  return (_: unknown, { stopping }: Invocation): Promise<void> => runner.work(() => stopping.aborted || !accepting());
};
