import type { CliCommand } from '../command.ts';
import { runDemo } from '../demo.ts';
import { secondsOption } from '../options.ts';

/** Shows a running system at work. */
export const demo: CliCommand<{ samples: string; wait: number }> = {
  name: 'demo',
  summary: 'submits good and bad orders to a running system, and shows how each ends',
  declare: (command) =>
    command
      .option('--samples <folder>', 'the orders: *.json', 'examples/orders/samples')
      .option('--wait <seconds>', 'how long to wait for their ends', secondsOption, 120),

  run: (cli, { samples, wait }) => runDemo(cli, { samples, waitMs: wait * 1000 }),
};
