import { type ChannelView, channelPath } from '#cli/channels';
import type { CliCommand } from '#cli/command';
import { textOption } from '#cli/options';
import { printable } from '#cli/text';

/** Stops what is done with a channel, until it is opened. */
export const channelClose: CliCommand<{ reason: string }> = {
  name: 'channel close',
  summary: 'takes nothing from a channel any more; orders that need it wait',
  declare: (command) =>
    command.argument('<name>', 'the channel: an agent, submissions or wake-ups').requiredOption('--reason <text>', 'why', textOption),

  async run(cli, { reason }, [name = '']) {
    const api = await cli.api('operator');
    const { body } = await api.call<ChannelView>('POST', `${channelPath(name)}/close`, { body: { reason } });
    cli.print(body, () => '');
    cli.terminal.say(`${printable(name)} is closed. Open it again: redress channel open ${printable(name)}`);
  },
};

/** Lets go what waited for a channel. */
export const channelOpen: CliCommand<{ reason?: string; canary?: true }> = {
  name: 'channel open',
  summary: 'opens a channel; what waited is let go in the order in which it came',
  declare: (command) =>
    command
      .argument('<name>', 'the channel: an agent, submissions or wake-ups')
      .option('--reason <text>', 'why', textOption)
      .option('--canary', 'of an agent: one request goes first, and the others when it was answered'),

  async run(cli, options, [name = '']) {
    const api = await cli.api('operator');
    const { reason, canary } = options;
    const asked = { ...(reason === undefined ? {} : { reason }), ...(canary ? { canary } : {}) };
    const { body } = await api.call<ChannelView>('POST', `${channelPath(name)}/open`, { body: asked });
    cli.print(body, () => '');
    cli.terminal.say(`${printable(name)} is open. See how it goes: redress channel status`);
  },
};
