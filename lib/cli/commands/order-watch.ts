import type { CliCommand } from '#cli/command';
import { resolveOrderId } from '#cli/orders';
import { watch } from '#cli/watch';

/** Stays with an order to its end. */
export const orderWatch: CliCommand = {
  name: 'order watch',
  summary: 'shows what happens to an order, until it has ended',
  declare: (command) => command.argument('<id>', 'the order, or the beginning of its id'),

  async run(cli, _, [id = '']) {
    const api = await cli.api('operator');
    return watch(cli, api, await resolveOrderId(api, id));
  },
};
