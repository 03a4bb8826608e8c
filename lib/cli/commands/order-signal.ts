import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { orderPath, resolveOrderId } from '#cli/orders';
import { readData } from '#cli/submission-file';
import { printable } from '#cli/text';

interface Options {
  data?: string;
  key?: string;
}

/** Sends a signal to an order, which keeps it until an activity waits for it. */
export const orderSignal: CliCommand<Options> = {
  name: 'order signal',
  summary: 'Send a signal to an order',
  sendsData: true,
  declare: (command) =>
    command
      .argument('<id>', 'order id, or its beginning')
      .argument('<name>', 'name of the signal')
      .allowExcessArguments()
      .option('--data <json>', 'payload: JSON, @file, or @- for standard input; default: null')
      .option('--key <key>', 'idempotency key; the same key again changes nothing more'),

  async run(cli, { data = 'null', key }, [id = '', name = '', ...payload]) {
    if (payload.length > 0) throw new UsageError(`The payload is an option: --data '${printable(payload.join(' '))}'.`);
    const body = await readData(data, cli.terminal);
    const api = await cli.api('operator');
    const orderId = await resolveOrderId(api, id);
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    const path = `${orderPath(orderId)}/signals/${encodeURIComponent(name)}`;
    const { body: answer, replayed } = await api.call('POST', path, { body, headers });
    cli.print(answer, () => '');
    cli.terminal.say(replayed ? 'This key was used before. The signal was not sent again.' : 'Accepted.');
    cli.terminal.say(`To follow the order: redress order watch ${printable(orderId)}`);
  },
};
