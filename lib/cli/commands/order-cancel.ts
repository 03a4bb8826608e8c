import type { Command } from 'commander';
import type { CliCommand } from '#cli/command';
import { textOption } from '#cli/options';
import { type OrderView, orderPath, resolveOrderId } from '#cli/orders';
import { printable } from '#cli/text';

interface Options {
  reason: string;
  path?: string;
}

/** Creates a command that cancels an order or gives it an instruction. */
const ending = (
  name: string,
  summary: string,
  kind: 'cancel' | 'compensate' | 'mark-compensated' | 'terminate',
  more: (command: Command) => Command = (command) => command,
): CliCommand<Options> => ({
  name: `order ${name}`,
  summary,
  declare: (command) =>
    more(
      command
        .argument('<id>', 'order id, or its beginning')
        .requiredOption('--reason <text>', 'why; kept in the history of the order', textOption),
    ),

  async run(cli, { reason, path: step }, [id = '']) {
    const api = await cli.api('operator');
    const path = orderPath(await resolveOrderId(api, id));
    const { body: order, etag = '' } = await api.call<OrderView>('GET', path);
    const { body } =
      kind === 'cancel'
        ? await api.call('POST', `${path}/cancel`, { body: { reason } })
        : await api.call('POST', `${path}/instructions`, {
            body: { kind, reason, ...(step === undefined ? {} : { path: step }) },
            headers: { 'if-match': etag },
          });
    cli.print(body, () => '');
    cli.terminal.say(`Accepted. To follow the order: redress order watch ${printable(order.orderId)}`);
  },
});

export const orderCancel = ending('cancel', 'Cancel an order: undo its completed steps', 'cancel');
export const orderCompensate = ending('compensate', 'Undo all completed steps of an order in Error', 'compensate');
export const orderTerminate = ending('terminate', 'End an order without undoing anything', 'terminate');
export const orderMarkCompensated = ending('mark-compensated', 'Mark a failing undo as done by hand', 'mark-compensated', (command) =>
  command.option('--path <step>', 'step whose undo fails; required if there are several', textOption),
);
