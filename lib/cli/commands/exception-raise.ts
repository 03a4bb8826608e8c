import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { orderPath, resolveOrderId } from '#cli/orders';
import { readData } from '#cli/submission-file';
import { printable } from '#cli/text';

interface Options {
  message?: string;
  path?: string;
  data?: string;
  key?: string;
}

/** Raises an exception of an order from outside. */
export const exceptionRaise: CliCommand<Options> = {
  name: 'exception raise',
  summary: 'Raise an exception of an order: the order stops, the rules are asked, then a person',
  sendsData: true,
  declare: (command) =>
    command
      .argument('<id>', 'order id, or its beginning')
      .argument('<type>', 'type of the exception, such as GoodsDamaged')
      .option('--message <text>', 'what happened (required)')
      .option('--path <path>', 'the activity that it is about, such as order/charge')
      .option('--data <json>', 'data for rules and people: JSON, @file, or @- for standard input')
      .option('--key <key>', 'idempotency key; the same key again changes nothing more'),

  async run(cli, { message, path, data, key }, [id = '', type = '']) {
    if (message === undefined) throw new UsageError('Say what happened: --message "the goods are damaged".');
    const given = data === undefined ? {} : { data: await readData(data, cli.terminal) };
    const body = { type, message, ...(path === undefined ? {} : { path }), ...given };
    const api = await cli.api('operator');
    const orderId = await resolveOrderId(api, id);
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    const { body: answer, replayed } = await api.call<{ readonly exceptionId: string }>('POST', `${orderPath(orderId)}/exceptions`, {
      body,
      headers,
    });
    cli.print(answer, () => `${printable(answer.exceptionId)}\n`);
    if (replayed) cli.terminal.say('This key was used before. The exception was not raised again.');
    cli.terminal.say(`To see what became of it: redress exception show ${printable(answer.exceptionId)}`);
  },
};
