import { clientIdPattern } from '#api/authentication';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { counted, printable } from '#cli/text';

/** Registers a client's response queues and senders, and replaces the earlier registration. */
export const clientPut: CliCommand<{ channel: readonly string[]; sender: readonly string[] }> = {
  name: 'client put',
  summary: "Replace a client's response queues and senders",
  declare: (command) =>
    command
      .argument('<id>', 'client id')
      .option('--channel <name...>', 'response queues of the client: redress-response-acme', [])
      .option('--sender <name...>', 'SQS sender ids that may submit for the client', []),

  async run(cli, { channel, sender }, [id = '']) {
    // API Gateway drops everything after a `?`, so the API would see, and replace, a different client.
    if (!clientIdPattern.test(id))
      throw new UsageError(`Invalid client id ${printable(id)}: expected 1 to 128 letters, digits, ".", "_" and "-", but not "." or "..".`);
    const api = await cli.api('admin');
    const registered = { responseChannels: channel, senders: sender };
    const { body } = await api.call('PUT', `/clients/${encodeURIComponent(id)}`, { body: registered });
    cli.print(body ?? { id, ...registered }, () => '');
    if (!cli.json)
      cli.terminal.say(`${printable(id)}: ${counted(channel.length, 'response channel')}, ${counted(sender.length, 'sender')}.`);
  },
};
