import { Option } from 'commander';
import type { CliCommand } from '#cli/command';
import { wholeOption } from '#cli/options';
import { listed, type OrderView, stateText } from '#cli/orders';
import { listedId, table } from '#cli/text';

interface Options {
  state?: string;
  outcome?: string;
  workflow?: string;
  fault?: string;
  reference?: string;
  limit: number;
  all?: true;
}

/** Lists orders, newest first. */
export const orderList: CliCommand<Options> = {
  name: 'order list',
  summary: 'List orders, newest first',
  declare: (command) =>
    command
      .addOption(new Option('--state <state>', 'only orders in this state').choices(['Pending', 'Processing', 'Processed', 'Error']))
      .addOption(
        new Option('--outcome <outcome>', 'only orders with this outcome').choices([
          'completed',
          'compensated',
          'rejected',
          'canceled',
          'terminated',
        ]),
      )
      .option('--workflow <name>', 'only orders of this workflow')
      .option('--fault <type>', 'only orders with this fault: CardDeclined')
      .option('--reference <text>', "only orders with this client's reference")
      .option('--limit <number>', 'most orders to list', wholeOption(1, 100_000), 20)
      .option('--all', 'list all orders')
      .addHelpText(
        'after',
        '\nAn order whose undo keeps failing is not in Error, although a person must see to it. The tasks of all orders that need a person: redress task list',
      ),

  async run(cli, { state, outcome, workflow, fault, reference, limit, all }) {
    const api = await cli.api('operator');
    const most = all ? Number.POSITIVE_INFINITY : limit;
    // One order beyond the limit shows whether there are more.
    const found = await listed<OrderView>(api, '/orders', { state, outcome, workflow, fault, reference }, most + 1);
    const items = found.slice(0, most);
    const more = found.length > items.length;

    const rows = items.map((order) => [
      listedId(order.orderId, cli.terminal),
      stateText(order),
      order.workflow.name,
      new Date(order.submittedAt).toISOString(),
      order.reference ?? '',
    ]);
    cli.print({ items, more }, () =>
      rows.length > 0 ? table(['order', 'state', 'workflow', 'submitted', 'reference'], rows, cli.paint) : '',
    );
    if (!cli.json && items.length === 0) cli.terminal.say('No orders match.');
    if (!cli.json && more) cli.terminal.say(`There are more orders: use --limit ${limit * 10} or --all.`);
  },
};
