import type { CliCommand } from '#cli/command';
import { textOption } from '#cli/options';
import { orderPath, resolveOrderId } from '#cli/orders';
import { printable } from '#cli/text';

interface RebuiltView {
  readonly orderId: string;
  readonly processState: string;
  readonly rebuilt: boolean;
  readonly readable: boolean;
  readonly lines: number;
  readonly pages: number;
  readonly difference: string | null;
}

export const orderRebuild: CliCommand<{ reason: string; dryRun?: true }> = {
  name: 'order rebuild',
  summary: 'Rebuild the state of an order from its journal',
  declare: (command) =>
    command
      .argument('<id>', 'order id, or its beginning')
      .requiredOption('--reason <text>', 'why; kept in the history of the order and in the audit', textOption)
      .option('--dry-run', 'compare the state with its journal, and change nothing'),

  async run(cli, { reason, dryRun }, [id = '']) {
    const api = await cli.api('operator');
    const path = orderPath(await resolveOrderId(api, id));
    const { body } = await api.call<RebuiltView>('POST', `${path}/rebuild`, { body: { reason, ...(dryRun ? { dryRun } : {}) } });
    cli.print(body, () => textOf(body));
  },
};

function textOf({ orderId, processState, rebuilt, readable, lines, pages, difference }: RebuiltView): string {
  const read = `${lines} journal lines${pages > 0 ? `, the older ones in ${pages} pages` : ''}`;
  if (rebuilt) return `${printable(orderId)} is ${processState} again. Its state is rebuilt from ${read}.\n`;
  const state = readable ? 'The state can be read.' : 'The state cannot be read.';
  return `${printable(orderId)} has ${read}. ${state} ${difference ?? 'The journal tells the state.'} Nothing was changed.\n`;
}
