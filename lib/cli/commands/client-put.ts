import { clientIdPattern } from '#api/authentication';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { printable } from '#cli/text';

/** Registers what a client may name. */
export const clientPut: CliCommand<{ channel: readonly string[]; sender: readonly string[] }> = {
  name: 'client put',
  summary: 'registers the response channels and senders of a client, in place of those it had',
  declare: (command) =>
    command
      .argument('<id>', 'the client')
      .option('--channel <name...>', 'response queues that it may name: redress-response-acme', [])
      .option('--sender <name...>', 'who may post submissions in its name', []),

  async run(cli, { channel, sender }, [id = '']) {
    // The API cannot refuse them all: API Gateway cuts off what stands behind a `?`, and another client would be replaced.
    if (!clientIdPattern.test(id))
      throw new UsageError(`${printable(id)} is no id of a client: 1 to 128 letters, digits, ".", "_" and "-", and not "." or "..".`);
    const api = await cli.api('admin');
    const registered = { responseChannels: channel, senders: sender };
    const { body } = await api.call('PUT', `/clients/${encodeURIComponent(id)}`, { body: registered });
    cli.print(body ?? { id, ...registered }, () => '');
    if (!cli.json) cli.terminal.say(`${printable(id)}: ${channel.length} response channels, ${sender.length} senders.`);
  },
};
