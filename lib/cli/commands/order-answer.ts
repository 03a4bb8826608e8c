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

/** Answers the question for which an order is blocked. */
export const orderAnswer: CliCommand<Options> = {
  name: 'order answer',
  summary: "Answer an order's question to the operator",
  sendsData: true,
  declare: (command) =>
    command
      .argument('<id>', 'order id, or its beginning')
      .option('--data <json>', 'answer: JSON, @file, or @- for standard input')
      .option('--reason <text>', 'why; kept in the history of the order', textOption, 'answered'),

  async run(cli, { data, reason }, [id = '']) {
    if (data === undefined) throw new UsageError('The answer is missing. Give it with --data: JSON, @file, or @- for standard input.');
    const answer = await readData(data, cli.terminal);
    const api = await cli.api('operator');
    const path = orderPath(await resolveOrderId(api, id));
    const { body: order, etag = '' } = await api.call<OrderView>('GET', path);
    const instruction = { kind: 'resubmit', reason, answer };
    const { body } = await api.call('POST', `${path}/instructions`, { body: instruction, headers: { 'if-match': etag } });
    cli.print(body, () => '');
    cli.terminal.say(`Accepted. To follow the order: redress order watch ${printable(order.orderId)}`);
  },
};
