import { Option } from 'commander';
import type { CliCommand } from '#cli/command';
import { spanOption, textOption } from '#cli/options';
import { orderPath, resolveOrderId } from '#cli/orders';
import { printable } from '#cli/text';

interface LockView {
  readonly orderId: string;
  readonly lockedUntil: string;
}

const fiveMinutesMs = 300_000;

export const orderLock: CliCommand<{ reason: string; for: number }> = {
  name: 'order lock',
  summary: 'Lock an order, to work on it alone: nobody else changes it, and its deadlines stand still',
  declare: (command) =>
    command
      .argument('<id>', 'order id, or its beginning')
      .requiredOption('--reason <text>', 'why; kept in the history of the order', textOption)
      .addOption(
        new Option('--for <span>', 'how long: 30s, 15m, at most 1h; the same command renews the lock')
          .argParser(spanOption)
          .default(fiveMinutesMs, '5m'),
      ),

  async run(cli, { reason, for: spanMs }, [id = '']) {
    const api = await cli.api('operator');
    const path = orderPath(await resolveOrderId(api, id));
    const { body } = await api.call<LockView>('POST', `${path}/lock`, { body: { seconds: Math.ceil(spanMs / 1000), reason } });
    cli.print(body, () => `${printable(body.orderId)} is yours until ${body.lockedUntil}.\n`);
    cli.terminal.say(`To end the lock earlier: redress order unlock ${printable(body.orderId)}`);
  },
};

export const orderUnlock: CliCommand<object> = {
  name: 'order unlock',
  summary: 'End your lock of an order, and apply the messages kept meanwhile',
  declare: (command) => command.argument('<id>', 'order id, or its beginning'),

  async run(cli, _, [id = '']) {
    const api = await cli.api('operator');
    const orderId = await resolveOrderId(api, id);
    await api.call('DELETE', `${orderPath(orderId)}/lock`);
    cli.print({ orderId, heldBy: null, lockedUntil: null }, () => `${printable(orderId)} has no lock.\n`);
  },
};
