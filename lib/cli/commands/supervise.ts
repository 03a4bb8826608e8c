import type { CliCommand } from '#cli/command';
import { systemClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { createSupervisor } from '#roles/supervisor/supervisor';

/** One pass of the supervisor over the data folder, beside those of a running system or instead of them. */
export const supervise: CliCommand = {
  name: 'supervise',
  summary: 'looks once for orders whose time is over, and asks for their recovery',

  async run(cli) {
    await cli.withData(async ({ store, queues, publisher }) => {
      const { clockToleranceMs, logLevel } = cli.config;
      const supervisor = createSupervisor({
        store,
        queues,
        publisher,
        clock: systemClock,
        telemetry: createTelemetry({ level: logLevel }),
        clockToleranceMs,
      });
      const pass = await supervisor.pass();
      cli.print(
        pass,
        () =>
          `looked at ${pass.looked}: ${pass.counted} expiries counted, ${pass.woken} woken, ${pass.intoError} into Error, ${pass.lost} lost to others\n`,
      );
    });
  },
};
