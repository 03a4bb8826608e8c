import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { wholeOption } from '#cli/options';

/** Runs the whole system for the user's app, as `npm start` does for the sample app. */
export const start: CliCommand<{ port?: number; data?: string; samples: boolean; quiet?: true }> = {
  name: 'start',
  summary: 'Run the whole system in this process',
  declare: (command) =>
    command
      .argument('[app]', 'module with an app from defineApp as default export; default: the sample app')
      .option('--port <port>', 'port to listen on (PORT, else 3000)', wholeOption(0, 65_535))
      .option('--no-samples', 'do not submit sample orders on the first start')
      .option('--quiet', 'print no lines about orders'),

  async run({ config }, { port = config.port, data = config.dataFolder, samples, quiet }, [app]) {
    // The sample app has none of the workflows of this folder, so orders of these workflows would not continue.
    if (app === undefined && existsSync('app.ts'))
      throw new UsageError('Expected the name of an app, because this folder has an app.ts. Run redress start app.ts.');
    // `bin/local.ts`, which also runs for `npm start`, reads its settings from the environment.
    Object.assign(process.env, {
      PORT: String(port),
      REDRESS_DATA: data,
      ...(samples ? {} : { REDRESS_SAMPLES: 'off' }),
      ...(quiet ? { REDRESS_QUIET: 'on' } : {}),
      ...(app === undefined ? {} : { REDRESS_APP: resolve(app) }),
    });
    await import(new URL(`../../../bin/local${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href);
  },
};
