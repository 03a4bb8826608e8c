import { Option } from 'commander';
import type { CliCommand } from '#cli/command';
import { sinceOption, wholeOption } from '#cli/options';
import { listed, type OrderView, stateText } from '#cli/orders';
import { lines, listedId, table } from '#cli/text';
import { systemClock } from '#ports/clock';

interface Options {
  state?: string;
  outcome?: string;
  workflow?: string;
  fault?: string;
  reference?: string;
  submittedSince?: string;
  limit: number;
  all?: true;
  ids?: true;
}

/** The words for a state that a person may type, and what the API calls it. */
const states: { readonly [word: string]: string } = {
  Pending: 'Pending',
  Processing: 'Processing',
  Processed: 'Processed',
  Error: 'Error',
  blocked: 'Error',
};

/** Lists orders, newest first. */
export const orderList: CliCommand<Options> = {
  name: 'order list',
  summary: 'List orders, newest first',
  declare: (command) =>
    command
      .addOption(new Option('--state <state>', 'only orders in this state; blocked is another word for Error').choices(Object.keys(states)))
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
      .option(
        '--fault <type>',
        'only orders with this fault, finished ones too: CardDeclined. With --state blocked: only those that wait for a person',
      )
      .option(
        '--submitted-since <time>',
        'only orders submitted after this time: 2026-01-31T12:00:00Z, or 2h for the last two hours',
        sinceOption(systemClock.now),
      )
      .option('--reference <text>', "only orders with this client's reference")
      .option('--limit <number>', 'list at most this many orders', wholeOption(1, 100_000), 20)
      .option('--all', 'list all orders')
      .option('--ids', 'print only the ids of the orders, one in a line')
      .addHelpText(
        'after',
        '\nAn order whose undo keeps failing is not in Error, although a person must see to it. The tasks of all orders that need a person: redress task list',
      ),

  async run(cli, { state: word, outcome, workflow, fault, reference, submittedSince: submittedAfter, limit, all, ids }) {
    const api = await cli.api('operator');
    const most = all ? Number.POSITIVE_INFINITY : limit;
    const state = word === undefined ? undefined : states[word];
    const filter = { state, outcome, workflow, fault, reference, submittedAfter };
    // One order beyond the limit shows whether there are more.
    const found = await listed<OrderView>(api, '/orders', filter, most + 1);
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
      ids
        ? lines(items.map(({ orderId }) => orderId))
        : rows.length > 0
          ? table(['order', 'state', 'workflow', 'submitted', 'reference'], rows, cli.paint)
          : '',
    );
    if (!cli.json && items.length === 0) cli.terminal.say('No orders match.');
    if (!cli.json && more) cli.terminal.say(`There are more orders: use --limit ${limit * 10} or --all.`);
  },
};
