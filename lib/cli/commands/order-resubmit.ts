import type { CliCommand } from '#cli/command';
import { textOption, wholeOption } from '#cli/options';
import { type OrderView, orderPath, resolveOrderId, type Time } from '#cli/orders';
import { printable, table } from '#cli/text';

interface Options {
  reason: string;
  dryRun?: true;
  completeWithin?: number;
}

interface Plan {
  readonly processState?: string;
  readonly requests?: readonly {
    readonly path: string;
    readonly agent: string;
    readonly operation: string;
    readonly attempt: number;
    readonly completeBy: Time;
  }[];
}

/** Has an order in Error try its failed step again. */
export const orderResubmit: CliCommand<Options> = {
  name: 'order resubmit',
  summary: 'has an order in Error try its failed step again',
  declare: (command) =>
    command
      .argument('<id>', 'the order, or the beginning of its id')
      .requiredOption('--reason <text>', 'why; kept in the history', textOption)
      .option('--dry-run', 'shows what would happen, and changes nothing')
      .option('--complete-within <seconds>', 'a new time for the whole order, from now', wholeOption(1, 31_622_400)),

  async run(cli, { reason, dryRun, completeWithin }, [id = '']) {
    const api = await cli.api('operator');
    const path = orderPath(await resolveOrderId(api, id));
    const { body: order, etag = '' } = await api.call<OrderView>('GET', path);
    const body = {
      kind: 'resubmit',
      reason,
      ...(dryRun ? { dryRun } : {}),
      ...(completeWithin === undefined ? {} : { completeWithinSeconds: completeWithin }),
    };
    const { body: answer } = await api.call<Plan>('POST', `${path}/instructions`, { body, headers: { 'if-match': etag } });

    cli.print(answer, () => (dryRun ? planText(answer, cli.paint) : ''));
    if (!dryRun) cli.terminal.say(`Accepted. See what becomes of it: redress order watch ${printable(order.orderId)}`);
  },
};

function planText({ processState = '', requests = [] }: Plan, paint: Parameters<typeof table>[2]): string {
  const rows = requests.map((ask) => [
    ask.path,
    `${ask.agent}.${ask.operation}`,
    String(ask.attempt),
    new Date(ask.completeBy).toISOString(),
  ]);
  return `The order would be ${printable(processState)}${rows.length === 0 ? ', and nobody would be asked.\n' : `, and asked would be:\n${table(['step', 'operation', 'attempt', 'complete by'], rows, paint)}`}`;
}
