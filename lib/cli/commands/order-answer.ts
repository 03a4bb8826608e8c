import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { textOption } from '#cli/options';
import { type OrderView, orderPath, resolveOrderId } from '#cli/orders';
import { readData } from '#cli/submission-file';
import { printable } from '#cli/text';

interface Options {
  data?: string;
  reason: string;
}

/** Answers the question for which an order waits. */
export const orderAnswer: CliCommand<Options> = {
  name: 'order answer',
  summary: 'answers the question for which an order waits',
  sendsData: true,
  declare: (command) =>
    command
      .argument('<id>', 'the order, or the beginning of its id')
      .option('--data <json>', 'the answer: JSON, @file, or @- for the input')
      .option('--reason <text>', 'why; kept in the history', textOption, 'answered'),

  async run(cli, { data, reason }, [id = '']) {
    if (data === undefined) throw new UsageError('An answer is wanted: --data with JSON, @file, or @- for the input.');
    const answer = await readData(data, cli.terminal);
    const api = await cli.api('operator');
    const path = orderPath(await resolveOrderId(api, id));
    const { body: order, etag = '' } = await api.call<OrderView>('GET', path);
    const instruction = { kind: 'resubmit', reason, answer };
    const { body } = await api.call('POST', `${path}/instructions`, { body: instruction, headers: { 'if-match': etag } });
    cli.print(body, () => '');
    cli.terminal.say(`Accepted. See what becomes of it: redress order watch ${printable(order.orderId)}`);
  },
};
