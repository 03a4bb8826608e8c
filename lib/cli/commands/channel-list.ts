import type { CliCommand } from '#cli/command';
import { spanText, table } from '#cli/text';

/** Lists the queues of the data folder that hold messages. */
export const channelList: CliCommand = {
  name: 'channel list',
  summary: 'List local queues that hold messages',

  async run(cli) {
    await cli.withData(async ({ database, queues }) => {
      const names = (database.prepare('SELECT DISTINCT queue FROM messages ORDER BY queue').all() as { queue: string }[]).map(
        ({ queue }) => queue,
      );
      const items = await Promise.all(names.map(async (name) => ({ name, ...(await queues.depth(name)) })));
      const rows = items.map(({ name, visible, inFlight, delayed, oldestAgeMs }) => [
        name,
        String(visible),
        String(inFlight),
        String(delayed),
        spanText(oldestAgeMs),
      ]);
      cli.print({ items }, () => (rows.length > 0 ? table(['queue', 'visible', 'in flight', 'delayed', 'oldest'], rows, cli.paint) : ''));
      if (!cli.json && items.length === 0) cli.terminal.say('All queues are empty.');
    });
  },
};
