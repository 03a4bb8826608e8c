import type { CliCommand } from '#cli/command';
import { systemClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { createSupervisor } from '#roles/supervisor/supervisor';

/** Runs one pass of the supervisor over the data folder, with or without a running system. */
export const supervise: CliCommand = {
  name: 'supervise',
  summary: 'Run the supervisor once over the data folder',

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
          `examined ${pass.looked} orders: ${pass.counted} expired deadlines counted, ${pass.woken} woken, ${pass.intoError} moved to Error, ${pass.lost} lost races\n`,
      );
    });
  },
};
