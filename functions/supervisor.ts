import { createSupervisor, type SupervisorPass } from '#roles/supervisor/supervisor';
import type { FunctionContext, Invocation } from '#runtime/function';
import { replyQueuesOf, type SupervisorTask } from '#runtime/topology';

/** Runs on schedules. Nothing is lost when it doesn't: the next pass sees what is due, and the next sweep goes on where this one stopped. */
export const create = ({ system }: FunctionContext) => {
  const { config, app, ...ports } = system;
  const { clock } = ports;
  const supervisor = createSupervisor({
    ...ports,
    clockToleranceMs: config.clockToleranceMs,
    periodMs: config.supervisorPeriodMs,
    replyQueues: replyQueuesOf(app),
  });

  /** A schedule knows no less than a minute: one run looks again and again until its minute is over. */
  async function passes(repeatForMs: number, stopping: AbortSignal): Promise<SupervisorPass> {
    const until = clock.now() + repeatForMs;
    for (;;) {
      const pass = await supervisor.pass();
      if (stopping.aborted || clock.now() + config.supervisorPeriodMs >= until) return pass;
      await clock.sleep(config.supervisorPeriodMs, stopping);
      if (stopping.aborted) return pass;
    }
  }

  return ({ task, repeatForMs = 0 }: SupervisorTask, { stopping }: Invocation): Promise<SupervisorPass> =>
    task === 'sweep' ? supervisor.sweep(stopping) : passes(repeatForMs, stopping);
};
