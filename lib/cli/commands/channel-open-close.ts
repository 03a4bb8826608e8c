import { type ChannelView, channelPath } from '#cli/channels';
import type { CliCommand } from '#cli/command';
import { textOption } from '#cli/options';
import { printable } from '#cli/text';

/** Closes a channel: functions stop consuming its queues until an operator opens it. */
export const channelClose: CliCommand<{ reason: string }> = {
  name: 'channel close',
  summary: 'Close a channel: stop consuming its queues',
  declare: (command) =>
    command
      .argument('<name>', 'channel: an agent, a consumer, submissions or wake-ups')
      .requiredOption('--reason <text>', 'why the channel is closed', textOption),

  async run(cli, { reason }, [name = '']) {
    const api = await cli.api('operator');
    const { body } = await api.call<ChannelView>('POST', `${channelPath(name)}/close`, { body: { reason } });
    cli.print(body, () => '');
    cli.terminal.say(`${printable(name)} is closed. To open it: redress channel open ${printable(name)}`);
  },
};

/** Opens a channel: its waiting messages are released in order of arrival. */
export const channelOpen: CliCommand<{ reason?: string; canary?: true }> = {
  name: 'channel open',
  summary: 'Open a channel: consume its queues again',
  declare: (command) =>
    command
      .argument('<name>', 'channel: an agent, a consumer, submissions or wake-ups')
      .option('--reason <text>', 'why the channel is opened', textOption)
      .option('--canary', 'agents and consumers only: send one message first, and the others after its success'),

  async run(cli, options, [name = '']) {
    const api = await cli.api('operator');
    const { reason, canary } = options;
    const change = { ...(reason === undefined ? {} : { reason }), ...(canary ? { canary } : {}) };
    const { body } = await api.call<ChannelView>('POST', `${channelPath(name)}/open`, { body: change });
    cli.print(body, () => '');
    cli.terminal.say(`${printable(name)} is open. To watch it: redress channel status`);
  },
};
