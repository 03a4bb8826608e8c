import { Option } from 'commander';
import type { CliCommand } from '#cli/command';
import { textOption, wholeOption } from '#cli/options';
import { listed, resolveOrderId } from '#cli/orders';
import { printable, table } from '#cli/text';
import { auditKinds } from '#ports/audit';

interface EntryView {
  readonly at: string;
  readonly by: string;
  readonly kind: string;
  readonly target: string;
  readonly action: string;
  readonly reason: string | null;
}

interface Options {
  by?: string;
  kind?: string;
  target?: string;
  since?: string;
  limit: number;
}

/** Lists what people did. */
export const audit: CliCommand<Options> = {
  name: 'audit',
  summary: 'List what people did, newest first',
  declare: (command) =>
    command
      .option('--by <person>', 'only entries of this person', textOption)
      .addOption(new Option('--kind <kind>', 'only entries of this kind').choices(auditKinds))
      .option('--target <id>', 'only entries about this order, channel, client, or dead letter as channel/id', textOption)
      .option('--since <time>', 'only entries from this time on: 2026-01-31T12:00:00Z', textOption)
      .option('--limit <number>', 'most entries', wholeOption(1, 100_000), 100),

  async run(cli, { by, kind, target: given, since, limit }) {
    const api = await cli.api('operator');
    // Other targets, such as channels, are given in full.
    const target = given?.startsWith('ord_') ? await resolveOrderId(api, given) : given;
    const items = await listed<EntryView>(api, '/audit', { by, kind, target, since }, limit);
    const rows = items.map((entry) =>
      [entry.at, entry.by, entry.action, entry.kind, entry.target, entry.reason ?? ''].map((each) => printable(each)),
    );
    cli.print({ items }, () => (rows.length > 0 ? table(['at', 'by', 'did', 'to', '', 'reason'], rows, cli.paint) : ''));
    if (!cli.json && items.length === 0) cli.terminal.say('The audit has no such entries.');
  },
};
