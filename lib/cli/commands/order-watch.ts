import type { CliCommand } from '#cli/command';
import { resolveOrderId } from '#cli/orders';
import { watch } from '#cli/watch';

/** Follows an order until it has ended. */
export const orderWatch: CliCommand = {
  name: 'order watch',
  summary: 'Follow an order until it has ended',
  declare: (command) => command.argument('<id>', 'order id, or its beginning'),

  async run(cli, _, [id = '']) {
    const api = await cli.api('operator');
    return watch(cli, api, await resolveOrderId(api, id));
  },
};
