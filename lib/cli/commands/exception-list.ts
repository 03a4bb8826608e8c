import { Option } from 'commander';
import type { CliCommand } from '#cli/command';
import { sinceOption, textOption, wholeOption } from '#cli/options';
import { listed } from '#cli/orders';
import { lines, listedId, table } from '#cli/text';
import { faultClasses, faultTags } from '#core/data/fault';
import { systemClock } from '#ports/clock';

interface ExceptionView {
  readonly id: string;
  readonly at: string;
  readonly type: string;
  readonly class: string;
  readonly step: string | null;
  readonly orderId: string;
  readonly reference?: string;
  readonly state: string;
}

interface Options {
  class?: string;
  type?: string;
  workflow?: string;
  step?: string;
  fingerprint?: string;
  state?: string;
  tag?: string;
  since?: string;
  until?: string;
  limit: number;
  ids?: true;
}

/** Lists the exceptions of orders. */
export const exceptionList: CliCommand<Options> = {
  name: 'exception list',
  summary: 'List exceptions of orders, newest first',
  declare: (command) =>
    command
      .addOption(new Option('--class <class>', 'only exceptions of this class').choices(faultClasses))
      .option('--type <name>', 'only exceptions of this fault type: CardDeclined', textOption)
      .option('--workflow <name>', 'only exceptions of this workflow', textOption)
      .option('--step <path>', 'only exceptions of this step of the workflow: order/charge', textOption)
      .option('--fingerprint <text>', 'only exceptions with this fingerprint: exception groups shows it', textOption)
      .addOption(new Option('--state <state>', 'only exceptions in this state').choices(['open', 'handled']))
      .addOption(new Option('--tag <tag>', 'only exceptions with this tag').choices(faultTags))
      .option(
        '--since <time>',
        'only exceptions from this time on: 2026-01-31T12:00:00Z, or 2h for the last two hours',
        sinceOption(systemClock.now),
      )
      .option('--until <time>', 'only exceptions before this time', textOption)
      .option('--limit <number>', 'list at most this many exceptions', wholeOption(1, 100_000), 100)
      .option('--ids', 'print only the ids of the exceptions, one in a line'),

  async run(cli, { class: faultClass, type, workflow, step, fingerprint, state, tag, since, until, limit, ids }) {
    const filter = { class: faultClass, type, workflow, step, fingerprint, state, tag, since, until };
    const items = await listed<ExceptionView>(await cli.api('viewer'), '/exceptions', filter, limit);
    const columns = ['at', 'state', 'type', 'step', 'order', 'reference', 'exception'];
    const rows = items.map(({ at, state, type, step, orderId, reference, id }) => [
      at,
      state,
      type,
      step ?? '',
      listedId(orderId, cli.terminal),
      reference ?? '',
      id,
    ]);
    cli.print({ items }, () => (ids ? lines(items.map(({ id }) => id)) : rows.length > 0 ? table(columns, rows, cli.paint) : ''));
    if (!cli.json && items.length === 0) cli.terminal.say('No exceptions match.');
  },
};
