import type { CliCommand } from '#cli/command';
import { orderPath, resolveOrderId } from '#cli/orders';

interface Exported {
  readonly case?: { readonly [field: string]: unknown };
  readonly items: readonly unknown[];
  readonly next: string | null;
}

/** Prints an order as a case, from as many pages as needed. */
export const orderExport: CliCommand = {
  name: 'order export',
  summary: 'Export an order without its secrets, for replay() of redress/testing: order export ID > case.json',
  declare: (command) => command.argument('<id>', 'order id, or its beginning'),

  async run(cli, _, [id = '']) {
    const api = await cli.api('viewer');
    const path = `${orderPath(await resolveOrderId(api, id))}/export`;
    const { body: first } = await api.call<Exported>('GET', `${path}?limit=100`);
    const journal = [...first.items];
    for (let { next } = first; next !== null; ) {
      const { body } = await api.call<Exported>('GET', `${path}?${new URLSearchParams({ limit: '100', cursor: next })}`);
      journal.push(...body.items);
      ({ next } = body);
    }
    const content = { ...first.case, journal };
    cli.print(content, () => `${JSON.stringify(content, null, 2)}\n`);
    return undefined;
  },
};
