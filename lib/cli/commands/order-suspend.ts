import type { CliCommand } from '#cli/command';
import { textOption } from '#cli/options';
import { type OrderView, orderPath, resolveOrderId, type Time } from '#cli/orders';
import { printable, spanText } from '#cli/text';

interface Options {
  reason: string;
  dryRun?: true;
}

interface Plan {
  readonly requests?: readonly { readonly path: string }[];
  readonly completeBy?: Time | null;
  readonly remainingSeconds?: number | null;
}

const turning = (kind: 'suspend' | 'resume', summary: string): CliCommand<Options> => ({
  name: `order ${kind}`,
  summary,
  declare: (command) =>
    command
      .argument('<id>', 'the order, or the beginning of its id')
      .requiredOption('--reason <text>', 'why; kept in the history', textOption)
      .option('--dry-run', 'shows what would happen, and changes nothing'),

  async run(cli, { reason, dryRun }, [id = '']) {
    const api = await cli.api('operator');
    const path = orderPath(await resolveOrderId(api, id));
    const { body: order, etag = '' } = await api.call<OrderView>('GET', path);
    const body = { kind, reason, ...(dryRun ? { dryRun } : {}) };
    const { body: answer } = await api.call<Plan>('POST', `${path}/instructions`, { body, headers: { 'if-match': etag } });
    cli.print(answer, () => (dryRun ? planText(answer) : ''));
    if (!dryRun) cli.terminal.say(`Accepted. See what becomes of it: redress order get ${printable(order.orderId)}`);
  },
});

function planText({ requests = [], completeBy, remainingSeconds }: Plan): string {
  const asked =
    requests.length === 0 ? 'Nobody would be asked' : `Asked would be: ${requests.map(({ path }) => printable(path)).join(', ')}`;
  if (typeof remainingSeconds === 'number')
    return `${asked}. Its time would stand still, with ${spanText(remainingSeconds * 1000)} left.\n`;
  return `${asked}.${completeBy ? ` What is at work would have until ${new Date(completeBy).toISOString()}.` : ''}\n`;
}

export const orderSuspend = turning('suspend', 'stops the time of an order: nothing new is begun until it is resumed');
export const orderResume = turning('resume', 'has a suspended order go on, with the time that it had left');
