import { Option } from 'commander';
import type { CliCommand } from '#cli/command';
import { textOption, wholeOption } from '#cli/options';
import { listed } from '#cli/orders';
import { table } from '#cli/text';

interface GroupView {
  readonly fingerprint: string;
  readonly type: string;
  readonly workflow: string;
  readonly step: string | null;
  readonly count: number;
  readonly open: number;
  readonly lastAt: string;
  readonly sampleMessage: string;
}

/** Lists alike exceptions together. */
export const exceptionGroups: CliCommand<{ since?: string; state?: string; limit: number }> = {
  name: 'exception groups',
  summary: 'List alike exceptions together, those with the most open ones first',
  declare: (command) =>
    command
      .option('--since <hour>', 'only exceptions from this whole hour on: 2026-01-31T12:00:00Z', textOption)
      .addOption(new Option('--state <state>', 'only groups with open exceptions, or without').choices(['open', 'handled']))
      .option('--limit <number>', 'list at most this many groups', wholeOption(1, 10_000), 100),

  async run(cli, { limit, since, state }) {
    const items = await listed<GroupView>(await cli.api('viewer'), '/exceptions/groups', { since, state }, limit);
    const rows = items.map(({ open, count, type, workflow, step, lastAt, fingerprint, sampleMessage }) => [
      String(open),
      String(count),
      type,
      `${workflow} ${step ?? ''}`,
      lastAt,
      fingerprint,
      sampleMessage,
    ]);
    cli.print({ items }, () =>
      rows.length > 0 ? table(['open', 'all', 'type', 'at', 'last', 'fingerprint', 'an example'], rows, cli.paint) : '',
    );
    if (!cli.json && items.length === 0) cli.terminal.say('There are no exceptions.');
  },
};
