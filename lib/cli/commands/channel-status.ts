import { type ChannelView, channelText, deadLettersText } from '#cli/channels';
import type { CliCommand } from '#cli/command';
import { listed } from '#cli/orders';
import { spanText, table } from '#cli/text';

/** Lists the channels: open or closed, their queue depths and their dead letters. */
export const channelStatus: CliCommand = {
  name: 'channel status',
  summary: 'List channels: open or closed, queue depths',

  async run(cli) {
    const items = await listed<ChannelView>(await cli.api('operator'), '/channels');
    const rows = items.map((channel) => [
      channel.name,
      channelText(channel),
      channel.since ?? '',
      String(channel.requests.visible + channel.requests.delayed),
      channel.replies === undefined ? '' : String(channel.replies.visible),
      spanText(channel.requests.oldestAgeMs),
      String(channel.failuresInRow),
      deadLettersText(channel),
      channel.open ? '' : (channel.reason ?? ''),
    ]);
    cli.print({ items }, () =>
      table(['channel', 'state', 'since', 'waiting', 'replies', 'oldest', 'failures in a row', 'dead letters', 'why'], rows, cli.paint),
    );
  },
};
