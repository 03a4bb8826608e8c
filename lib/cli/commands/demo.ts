import type { CliCommand } from '#cli/command';
import { runDemo } from '#cli/demo';
import { secondsOption } from '#cli/options';

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
