import type { Published } from '#adapters/sqlite/event-bus';
import type { ChannelView } from '#cli/channels';
import type { Cli, CliCommand } from '#cli/command';
import { wholeOption } from '#cli/options';
import { listed } from '#cli/orders';
import { printable } from '#cli/text';
import { systemClock } from '#ports/clock';

const pageSize = 500;
const lookEveryMs = 500;

/** Lists all announcements, not only alerts: the local counterpart of a subscription to the event bus. */
export const alerts: CliCommand<{ follow?: true; since: number }> = {
  name: 'alerts',
  summary: 'List announcements, oldest first',
  declare: (command) =>
    command
      .option('--follow', 'keep printing new ones; with --json one object a line')
      .option('--since <seq>', 'only announcements after this number', wholeOption(0, Number.MAX_SAFE_INTEGER), 0),

  async run(cli, { follow, since }) {
    await cli.withData(async ({ publisher }) => {
      const newerThan = (seq: number) => pages((after) => publisher.published(after, pageSize), seq);
      if (cli.json && !follow) return cli.print({ items: [...newerThan(since)].map(viewOf) }, () => '');
      const blocked = new Set<unknown>();
      for (let after = since; ; await systemClock.sleep(lookEveryMs)) {
        for (const announcement of newerThan(after)) {
          if (cli.json || !repeats(announcement, blocked)) cli.print(viewOf(announcement), () => lineOf(announcement, cli));
          after = announcement.seq;
        }
        if (!follow) break;
      }
    });
    if (!cli.json) for (const agent of await awayNow(cli)) cli.terminal.say(`The service of ${agent} is away now: redress breaker list`);
  },
};

/** Returns the agents whose service is away. An outage has no announcement; on AWS, it raises an alarm. */
async function awayNow(cli: Cli): Promise<readonly string[]> {
  try {
    const channels = await listed<ChannelView>(await cli.api('operator'), '/channels');
    return channels.filter(({ breaker }) => breaker?.phase === 'open').map(({ name }) => name);
  } catch {
    // The API does not answer or refuses the call. The announcements are shown all the same, because they are in the data folder.
    return [];
  }
}

/**
 * Whether an announcement tells a person nothing new. `Workflow Terminated` tells subscribers that no handler took a fault; the same write
 * announces `Order In Error` under the id before the slash. `blocked` collects the ids of `Order In Error`.
 */
function repeats({ detailType, detail: { id } }: Published, blocked: Set<unknown>): boolean {
  if (detailType === 'Order In Error') blocked.add(id);
  return detailType === 'Workflow Terminated' && blocked.has(String(id).replace(/\/terminated$/, ''));
}

function* pages(read: (after: number) => readonly Published[], since: number): Generator<Published> {
  for (let after = since; ; ) {
    const page = read(after);
    yield* page;
    if (page.length < pageSize) return;
    after = page.at(-1)?.seq ?? after;
  }
}

const viewOf = ({ seq, publishedAt, detailType, detail }: Published) => ({
  seq,
  publishedAt: new Date(publishedAt).toISOString(),
  detailType,
  detail,
});

function lineOf({ seq, publishedAt, detailType, detail }: Published, { paint }: Pick<Cli, 'paint'>): string {
  const what = ['orderId', 'type', 'source', 'outcome', 'message'].flatMap((field) =>
    typeof detail[field] === 'string' ? [detail[field]] : [],
  );
  return `${paint('dim', `${seq}  ${new Date(publishedAt).toISOString()}`)}  ${paint('bold', printable(detailType))}  ${printable(what.join('  '))}\n`;
}
