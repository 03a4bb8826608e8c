import type { CliCommand } from '#cli/command';
import { resolveOrderId } from '#cli/orders';
import { watch } from '#cli/watch';

/** Follows an order until it has ended. */
export const orderWatch: CliCommand = {
  name: 'order watch',
  summary: 'Follow an order until it has ended',
  declare: (command) =>
    command
      .argument('<id>', 'order id, or its beginning')
      .addHelpText(
        'after',
        '\nExit codes: 0 it has completed, 1 it has ended otherwise or is blocked, 2 wrong use, 3 cannot reach the system.',
      ),

  async run(cli, _, [id = '']) {
    const api = await cli.api('operator');
    return watch(cli, api, await resolveOrderId(api, id));
  },
};
