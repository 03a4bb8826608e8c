import type { Command } from 'commander';
import type { CliCommand } from '#cli/command';
import { textOption } from '#cli/options';
import { type OrderView, orderPath, resolveOrderId } from '#cli/orders';
import { printable } from '#cli/text';

interface Options {
  reason: string;
  path?: string;
}

/** A decision about an order: as a call of its own, or as an operator's instruction. */
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
        .argument('<id>', 'the order, or the beginning of its id')
        .requiredOption('--reason <text>', 'why; kept in the history', textOption),
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
    cli.terminal.say(`Accepted. See what becomes of it: redress order watch ${printable(order.orderId)}`);
  },
});

export const orderCancel = ending('cancel', 'cancels what runs of an order, and undoes what was done', 'cancel');
export const orderCompensate = ending('compensate', 'undoes all that an order in Error has done', 'compensate');
export const orderTerminate = ending('terminate', 'ends an order as it is: nothing is undone', 'terminate');
export const orderMarkCompensated = ending(
  'mark-compensated',
  'says that an undo which goes on failing was seen to by hand',
  'mark-compensated',
  (command) => command.option('--path <step>', 'the step whose undo it is; needed where there are several', textOption),
);
