import type { CliCommand } from '../command.ts';
import { resolveOrderId } from '../orders.ts';
import { watch } from '../watch.ts';

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
