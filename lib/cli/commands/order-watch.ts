import type { CliCommand } from '#cli/command';
import { resolveOrderId } from '#cli/orders';
import { hasWantedEnd, watch } from '#cli/watch';

/** Follows an order until it has ended. */
export const orderWatch: CliCommand = {
  name: 'order watch',
  summary: 'Follow an order until it has ended',
  declare: (command) =>
    command.argument('<id>', 'order id, or its beginning').addHelpText(
      'after',
      `
Exit codes:
  0  it has completed, was canceled, or a person has ended it with compensate, recover, restart or terminate
  1  it has ended otherwise (compensated, rejected or terminated by its workflow or a rule), or is blocked
  2  wrong use
  3  cannot reach the system`,
    ),

  async run(cli, _, [id = '']) {
    const api = await cli.api('operator');
    const order = await watch(cli, api, await resolveOrderId(api, id));
    return order && hasWantedEnd(order) ? 0 : 1;
  },
};
