import type { CliCommand } from '#cli/command';
import { orderPath, resolveOrderId } from '#cli/orders';
import { type Paint, printable, table } from '#cli/text';

interface Dependents {
  readonly path: string;
  readonly data: readonly string[];
  readonly control: readonly string[];
  readonly consumers: readonly { readonly orderId: string; readonly path: string; readonly object: string }[];
  readonly more: boolean;
}

/** Shows what depends on a step of an order, in the order itself and in others. */
export const orderDependents: CliCommand = {
  name: 'order dependents',
  summary: 'Show what depends on a step of an order, and which orders used what it wrote',
  declare: (command) =>
    command.argument('<id>', 'order id, or its beginning').argument('[path]', 'path of the step, or its name; default: the whole order'),

  async run(cli, _, [id = '', path = 'order']) {
    const api = await cli.api('operator');
    const order = orderPath(await resolveOrderId(api, id));
    const { body } = await api.call<Dependents>('GET', `${order}/dependents?${new URLSearchParams({ path })}`);
    cli.print(body, () => dependentsText(body, cli.paint));
  },
};

function dependentsText({ path, data, control, consumers, more }: Dependents, paint: Paint): string {
  const all = [...new Set([...data, ...control])];
  const kinds = (each: string): string =>
    [...(data.includes(each) ? ['data'] : []), ...(control.includes(each) ? ['control'] : [])].join(', ');
  const inside =
    all.length === 0
      ? `Nothing in its order depends on ${printable(path)}.\n`
      : table(
          ['depends on it', 'by'],
          all.map((each) => [each, kinds(each)]),
          paint,
        );
  const rows = consumers.map(({ orderId, path: reader, object }) => [orderId, reader, object]);
  const others = rows.length === 0 ? 'No other order has used what it wrote.\n' : table(['used by', 'step', 'object'], rows, paint);
  return `${inside}\n${others}${more ? 'There are more orders than are shown.\n' : ''}`;
}
