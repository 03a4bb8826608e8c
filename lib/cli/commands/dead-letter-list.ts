import type { CliCommand } from '#cli/command';
import { channelNames, deadLetterPath, declareFilter, filterOf, type MessageFilter, type MessageView } from '#cli/dead-letters';
import { wholeOption } from '#cli/options';
import { listed } from '#cli/orders';
import { table } from '#cli/text';

/** Lists dead letters. */
export const deadLetterList: CliCommand<MessageFilter & { limit: number }> = {
  name: 'dead-letter list',
  summary: 'List dead letters, oldest first',
  declare: (command) =>
    declareFilter(command.argument('[channel]', 'an agent, submissions, wake-ups or workflows; default: all channels')).option(
      '--limit <number>',
      'list at most this many messages of each channel',
      wholeOption(1, 100_000),
      100,
    ),

  async run(cli, { limit, ...filter }, [channel]) {
    const api = await cli.api('operator');
    const names = channel === undefined ? await channelNames(api) : [channel];
    const items: MessageView[] = [];
    for (const name of names) items.push(...(await listed<MessageView>(api, deadLetterPath(name), filterOf(filter), limit)));
    const rows = items.map((message) => [message.channel, message.id, message.type ?? '', message.orderId ?? '', stateOf(message)]);
    cli.print({ items }, () => (rows.length > 0 ? table(['channel', 'message', 'type', 'order', ''], rows, cli.paint) : ''));
    if (!cli.json && items.length === 0) cli.terminal.say('No dead letters match.');
  },
};

const stateOf = ({ handling, reason }: MessageView): string =>
  handling ? `${handling.by} began to ${handling.action} it at ${handling.at}` : reason;
