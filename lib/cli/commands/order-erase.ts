import type { CliCommand } from '#cli/command';
import { FailedError } from '#cli/errors';
import { assertAsks } from '#cli/instruction';
import { textOption } from '#cli/options';
import { orderPath, resolveOrderId } from '#cli/orders';
import { printable } from '#cli/text';

interface ErasedView {
  readonly orderId: string;
  readonly erasedAt: string;
  readonly orders: readonly string[];
  readonly deadLetters: number;
}

export const orderErase: CliCommand<{ reason: string; yes?: true }> = {
  name: 'order erase',
  summary: 'Erase the secrets of a finished order forever',
  declare: (command) =>
    command
      .argument('<id>', 'order id, or its beginning')
      .requiredOption('--reason <text>', 'why; kept in the audit', textOption)
      .option('--yes', 'do not ask before'),

  async run(cli, { reason, yes }, [id = '']) {
    const orderId = await resolveOrderId(await cli.api('operator'), id);
    if (!yes) assertAsks(cli, 'Erasing cannot be taken back. Confirm it with --yes.');
    if (!yes && !(await cli.terminal.confirm(`Erase the secrets of ${printable(orderId)} forever?`)))
      throw new FailedError('Nothing was erased.');
    const api = await cli.api('admin');
    const { body } = await api.call<ErasedView>('POST', `${orderPath(orderId)}/erase`, { body: { reason } });
    const { erasedAt, orders, deadLetters } = body;
    cli.print(body, () =>
      orders.length === 0
        ? `The secrets of ${printable(orderId)} were erased before, at ${erasedAt}.\n`
        : `Erased the secrets of ${orders.map(printable).join(', ')}, and the texts of ${deadLetters} dead letters.\n`,
    );
  },
};
