import { clientIdPattern } from '#api/authentication';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { textOption } from '#cli/options';
import { listed } from '#cli/orders';
import { counted, printable } from '#cli/text';
import type { ClientRecord } from '#ports/clients';

interface Options {
  channel: readonly string[];
  sender: readonly string[];
  appClient: readonly string[];
  reason: string;
}

/** Registers a client, or replaces its registration. The API refuses the write if another admin has changed the registration meanwhile. */
export const clientPut: CliCommand<Options> = {
  name: 'client put',
  summary: "Replace a client's queues, senders and app clients",
  declare: (command) =>
    command
      .argument('<id>', 'client id')
      .option('--channel <name...>', 'response queues of the client: redress-response-acme', [])
      .option('--sender <name...>', 'SQS sender ids that may submit for the client; AROA…:* is every session of a role', [])
      .option('--app-client <id...>', 'app clients of the token issuer (client_id) that act as the client', [])
      .requiredOption('--reason <text>', 'why; kept with the registration', textOption),

  async run(cli, { channel, sender, appClient, reason }, [id = '']) {
    // API Gateway drops everything after a `?`, so the API would see, and replace, a different client.
    if (!clientIdPattern.test(id))
      throw new UsageError(`Invalid client id ${printable(id)}: expected 1 to 128 letters, digits, ".", "_" and "-", but not "." or "..".`);
    const api = await cli.api('admin');
    const before = (await listed<ClientRecord>(api, '/clients')).find((client) => client.id === id);
    const body = { responseChannels: channel, senders: sender, appClients: appClient, reason };
    const headers = before ? { 'if-match': `"${before.rev}"` } : {};
    const { body: registered } = await api.call('PUT', `/clients/${encodeURIComponent(id)}`, { body, headers });
    cli.print(registered ?? { id, ...body }, () => '');
    const parts = [counted(channel.length, 'response channel'), counted(sender.length, 'sender'), counted(appClient.length, 'app client')];
    if (!cli.json) cli.terminal.say(`${printable(id)}: ${parts.join(', ')}.`);
  },
};
