import type { CliCommand } from '#cli/command';
import { orderPath, resolveOrderId } from '#cli/orders';
import { readData } from '#cli/submission-file';
import { printable } from '#cli/text';

interface Options {
  data?: string;
  key?: string;
}

/** Sends a signal that an order waits for, or will wait for. */
export const orderSignal: CliCommand<Options> = {
  name: 'order signal',
  summary: 'sends an order what it waits for',
  sendsData: true,
  declare: (command) =>
    command
      .argument('<id>', 'the order, or the beginning of its id')
      .argument('<name>', 'the name of the signal')
      .option('--data <json>', 'what it brings along: JSON, @file, or @- for the input (null)')
      .option('--key <key>', 'the idempotency key: the same again changes nothing more'),

  async run(cli, { data = 'null', key }, [id = '', name = '']) {
    const body = await readData(data, cli.terminal);
    const api = await cli.api('operator');
    const orderId = await resolveOrderId(api, id);
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    const path = `${orderPath(orderId)}/signals/${encodeURIComponent(name)}`;
    const { body: answer, replayed } = await api.call('POST', path, { body, headers });
    cli.print(answer, () => '');
    cli.terminal.say(replayed ? 'This key was used before: nothing was sent again.' : 'Accepted.');
    cli.terminal.say(`See what becomes of it: redress order watch ${printable(orderId)}`);
  },
};
