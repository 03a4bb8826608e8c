import type { CliCommand } from '#cli/command';
import { listed, orderPath, resolveOrderId, type Time } from '#cli/orders';
import { table } from '#cli/text';

interface Entry {
  readonly seq: number;
  readonly at: Time;
  readonly type: string;
  readonly path?: string;
  readonly [field: string]: unknown;
}

/** Prints an order's journal. */
export const orderHistory: CliCommand = {
  name: 'order history',
  summary: "Print an order's history, oldest first",
  declare: (command) => command.argument('<id>', 'order id, or its beginning'),

  async run(cli, _, [id = '']) {
    const api = await cli.api('operator');
    const items = await listed<Entry>(api, `${orderPath(await resolveOrderId(api, id))}/history`);
    const rows = items.map(({ seq, at, type, path = '', ...rest }) => [
      String(seq),
      new Date(at).toISOString(),
      type,
      path,
      detailsOf(rest),
    ]);
    cli.print({ items }, () => table(['seq', 'at', 'type', 'path', ''], rows, cli.paint));
  },
};

const detailsOf = (fields: { readonly [name: string]: unknown }): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
