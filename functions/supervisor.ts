import { allSettledOrThrow } from '#ports/util/all-settled';
import { createDigests } from '#roles/audit/digests';
import { createOverviewKeeper } from '#roles/overview/keeper';
import { createSupervisor, type SupervisorPass } from '#roles/supervisor/supervisor';
import type { FunctionContext, Invocation } from '#runtime/function';
import { repeatPasses } from '#runtime/passes';
import { replyQueuesOf, type SupervisorTask, watchedChannelsOf } from '#runtime/topology';

/**
 * Runs the supervisor on its schedules. A missed invocation loses no work: the next pass finds the due orders, and the next sweep continues
 * where the last sweep stopped.
 */
export const create = ({ system }: FunctionContext) => {
  const { config, app, ...ports } = system;
  const { clock } = ports;
  const { overviewPeriodMs: everyMs } = config;
  const supervisor = createSupervisor({
    ...ports,
    clockToleranceMs: config.clockToleranceMs,
    periodMs: config.supervisorPeriodMs,
    replyQueues: replyQueuesOf(app),
    overview: everyMs === undefined ? undefined : createOverviewKeeper({ ...ports, channels: watchedChannelsOf(app), everyMs }),
  });

  const passes = (repeatForMs: number, stopping: AbortSignal): Promise<SupervisorPass> =>
    repeatPasses(() => supervisor.pass(), { repeatForMs, periodMs: config.supervisorPeriodMs, clock, stopping });

  const writeDigests = createDigests(ports);
  const sweep = async (stopping: AbortSignal): Promise<SupervisorPass> =>
    (await allSettledOrThrow([supervisor.sweep(stopping), writeDigests().then(() => undefined)]))[0] as SupervisorPass;

  return ({ task, repeatForMs = 0 }: SupervisorTask, { stopping }: Invocation): Promise<SupervisorPass> =>
    task === 'sweep' ? sweep(stopping) : passes(repeatForMs, stopping);
};
