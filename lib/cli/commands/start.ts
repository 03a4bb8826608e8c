import { resolve } from 'node:path';
import type { CliCommand } from '#cli/command';
import { wholeOption } from '#cli/options';

/** Runs the whole system for the user's own app, as `npm start` does for the sample one. */
export const start: CliCommand<{ port?: number; data?: string; samples: boolean }> = {
  name: 'start',
  summary: 'runs the whole system in this process, until it is stopped',
  declare: (command) =>
    command
      .argument('[app]', 'module whose default export comes from defineApp (the sample orders)')
      .option('--port <port>', 'where to listen (PORT, else 3000)', wholeOption(0, 65_535))
      .option('--no-samples', 'submits no sample orders on a first start'),

  async run({ config }, { port = config.port, data = config.dataFolder, samples }, [app]) {
    // The program is the one of `npm start`, and takes its settings as that one does.
    Object.assign(process.env, {
      PORT: String(port),
      REDRESS_DATA: data,
      ...(samples ? {} : { REDRESS_SAMPLES: 'off' }),
      ...(app === undefined ? {} : { REDRESS_APP: resolve(app) }),
    });
    await import(new URL(`../../../bin/local${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href);
  },
};
