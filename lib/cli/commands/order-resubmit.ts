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

/** Retries the failed step of an order in Error. */
export const orderResubmit: CliCommand<Options> = {
  name: 'order resubmit',
  summary: 'Retry the failed step of an order in Error',
  declare: (command) =>
    command
      .argument('<id>', 'order id, or its beginning')
      .requiredOption('--reason <text>', 'why; kept in the history of the order', textOption)
      .option('--dry-run', 'show the outcome without changing anything')
      .option('--complete-within <seconds>', 'new time limit of the whole order, from now', wholeOption(1, 31_622_400)),

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
    if (!dryRun) cli.terminal.say(`Accepted. To follow the order: redress order watch ${printable(order.orderId)}`);
  },
};

function planText({ processState = '', requests = [] }: Plan, paint: Parameters<typeof table>[2]): string {
  const rows = requests.map(({ path, agent, operation, attempt, completeBy }) => [
    path,
    `${agent}.${operation}`,
    String(attempt),
    new Date(completeBy).toISOString(),
  ]);
  return `The order would be ${printable(processState)}${rows.length === 0 ? ' and send no requests.\n' : ` and send these requests:\n${table(['step', 'operation', 'attempt', 'complete by'], rows, paint)}`}`;
}
