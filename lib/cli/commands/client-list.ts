import type { CliCommand } from '#cli/command';
import { listed } from '#cli/orders';
import { table } from '#cli/text';
import type { ClientRecord } from '#ports/clients';

/** Lists the registered clients. */
export const clientList: CliCommand = {
  name: 'client list',
  summary: 'List the registered clients',

  async run(cli) {
    const items = await listed<ClientRecord>(await cli.api('admin'), '/clients');
    const rows = items.map(({ id, responseChannels, senders, appClients, by, at }) => [
      id,
      responseChannels.join(', '),
      senders.join(', '),
      appClients.join(', '),
      `${by} ${at}`,
    ]);
    const columns = ['client', 'response channels', 'senders', 'app clients', 'changed'];
    cli.print({ items }, () => (rows.length > 0 ? table(columns, rows, cli.paint) : ''));
    if (!cli.json && items.length === 0) cli.terminal.say('No clients are registered.');
  },
};
