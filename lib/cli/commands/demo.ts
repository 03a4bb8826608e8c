import type { CliCommand } from '#cli/command';
import { runDemo } from '#cli/demo';
import { secondsOption } from '#cli/options';

/** Submits sample orders to a running system. */
export const demo: CliCommand<{ samples: string; wait: number }> = {
  name: 'demo',
  summary: 'Submit sample orders and show how each ends',
  declare: (command) =>
    command
      .option('--samples <folder>', 'folder with the orders: *.json', 'examples/orders/samples')
      .option('--wait <seconds>', 'the longest time to wait until the orders end', secondsOption, 120),

  run: (cli, { samples, wait }) => runDemo(cli, { samples, waitMs: wait * 1000 }),
};
