import type { CliCommand } from '#cli/command';
import { spanText, table } from '#cli/text';

type Count = number | { readonly atLeast: number };

interface OverviewView {
  readonly asOf: string;
  readonly processing: Count;
  readonly pending: Count;
  readonly error: Count;
  readonly overdue: Count;
  readonly processedToday: Count;
  readonly oldestLiveSeconds: number | null;
  readonly tasks: { readonly open: Count; readonly mine: Count; readonly overdue: Count };
  readonly groups: readonly { readonly open: number; readonly type: string; readonly workflow: string; readonly step: string | null }[];
  readonly channels: readonly {
    readonly name: string;
    readonly depth: number;
    readonly oldestSeconds: number;
    readonly open: boolean;
    readonly outage: boolean;
  }[];
}

const countText = (count: Count): string => (typeof count === 'number' ? String(count) : `${count.atLeast}+`);

/** Shows figures of orders, tasks, exceptions and channels. They tell a person whether somebody is needed. */
export const overview: CliCommand = {
  name: 'overview',
  summary: 'Show the figures of the whole system',

  async run(cli) {
    const { body } = await (await cli.api('viewer')).call<OverviewView>('GET', '/overview');
    cli.print(body, () => {
      const { tasks, oldestLiveSeconds: oldest } = body;
      const figures = [
        ['processing', countText(body.processing)],
        ['pending', countText(body.pending)],
        ['in error', countText(body.error)],
        ['overdue', countText(body.overdue)],
        ['processed today', countText(body.processedToday)],
        ['oldest unfinished', oldest === null ? 'none' : spanText(oldest * 1000)],
        ['tasks', `${countText(tasks.open)} open, ${countText(tasks.mine)} mine, ${countText(tasks.overdue)} overdue`],
      ];
      const groups = body.groups.map(({ open, type, workflow, step }) => [String(open), type, `${workflow} ${step ?? ''}`]);
      const channels = body.channels.map(({ name, depth, oldestSeconds, open, outage }) => [
        name,
        String(depth),
        depth === 0 ? '' : spanText(oldestSeconds * 1000),
        `${open ? 'open' : 'closed'}${outage ? ', service outage' : ''}`,
      ]);
      return [
        table([`as of ${body.asOf}`, ''], figures, cli.paint),
        ...(groups.length > 0 ? [table(['open', 'exceptions', 'at'], groups, cli.paint)] : []),
        table(['channel', 'waiting', 'oldest', 'state'], channels, cli.paint),
      ].join('\n');
    });
  },
};
