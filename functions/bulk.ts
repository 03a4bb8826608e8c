import { queueNames } from '#ports/messages';
import { createBulkRunner } from '#roles/bulk/runner';
import type { FunctionContext, Invocation } from '#runtime/function';
import { replyQueuesOf } from '#runtime/topology';

/** Carries out bulk runs. Its schedule finds a run whose process has stopped, and an announcement starts it at once for a new one. */
export const create = ({ system, accepting }: FunctionContext) => {
  const schedulerQueues = [queueNames.wakeUps, ...replyQueuesOf(system.app)];
  const runner = createBulkRunner({ ...system, schedulerQueues });
  return (_: unknown, { stopping }: Invocation): Promise<void> => runner.work(() => stopping.aborted || !accepting());
};
