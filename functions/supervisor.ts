import type { FunctionContext } from '../lib/function.ts';
import { createSupervisor } from '../lib/supervisor.ts';

const sweepEveryMs = 3_600_000;

/** Runs on a schedule. Nothing is lost when it doesn't: the next run begins where this one stopped. */
export const create = ({ system }: FunctionContext) => {
  const { store, channel, clock, telemetry, config } = system;
  const supervisor = createSupervisor({ store, channel, clock, telemetry, clockToleranceMs: config.clockToleranceMs });
  let sweptAt = clock.now();

  return async () => {
    if (clock.now() - sweptAt >= sweepEveryMs) {
      sweptAt = clock.now();
      await supervisor.sweep();
    }
    return supervisor.pass();
  };
};
