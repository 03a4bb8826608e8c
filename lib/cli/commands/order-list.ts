import { Option } from 'commander';
import type { CliCommand } from '#cli/command';
import { wholeOption } from '#cli/options';
import { listed, type OrderView, stateText } from '#cli/orders';
import { shortened, table } from '#cli/text';

interface Options {
  state?: string;
  outcome?: string;
  workflow?: string;
  fault?: string;
  reference?: string;
  limit: number;
  all?: true;
}

/** Enough of an id to name the order to any other command. */
const idCharacters = 13;

/** Lists orders, newest first. */
export const orderList: CliCommand<Options> = {
  name: 'order list',
  summary: 'lists orders, newest first',
  declare: (command) =>
    command
      .addOption(new Option('--state <state>', 'only these').choices(['Pending', 'Processing', 'Processed', 'Error']))
      .addOption(
        new Option('--outcome <outcome>', 'only these').choices(['completed', 'compensated', 'rejected', 'canceled', 'terminated']),
      )
      .option('--workflow <name>', 'only these')
      .option('--fault <type>', 'only these: CardDeclined')
      .option('--reference <text>', "only those with the client's own name")
      .option('--limit <number>', 'at most so many', wholeOption(1, 100_000), 20)
      .option('--all', 'every one'),

  async run(cli, { state, outcome, workflow, fault, reference, limit, all }) {
    const api = await cli.api('operator');
    const most = all ? Number.POSITIVE_INFINITY : limit;
    // One more than is shown tells whether there are more.
    const found = await listed<OrderView>(api, '/orders', { state, outcome, workflow, fault, reference }, most + 1);
    const items = found.slice(0, most);
    const more = found.length > items.length;

    const idOf = ({ orderId }: OrderView) => (cli.terminal.isScreen ? shortened(orderId, idCharacters) : orderId);
    const rows = items.map((order) => [
      idOf(order),
      stateText(order),
      order.workflow.name,
      new Date(order.submittedAt).toISOString(),
      order.reference ?? '',
    ]);
    cli.print({ items, more }, () =>
      rows.length > 0 ? table(['order', 'state', 'workflow', 'submitted', 'reference'], rows, cli.paint) : '',
    );
    if (!cli.json && items.length === 0) cli.terminal.say('There are no such orders.');
    if (!cli.json && more) cli.terminal.say(`There are more: --limit ${limit * 10}, or --all.`);
  },
};
