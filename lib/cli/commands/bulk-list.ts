import { Option } from 'commander';
import { type BulkView, bulkPath, bulkText, followBulk, isAtRest, nextStep } from '#cli/bulk';
import type { CliCommand } from '#cli/command';
import { wholeOption } from '#cli/options';
import { listed, secondText } from '#cli/orders';
import { listedId, table } from '#cli/text';
import { outcomes } from '#roles/bulk/run';

/** Lists the bulk runs. */
export const bulkList: CliCommand<{ limit: number }> = {
  name: 'bulk list',
  summary: 'List the bulk runs, newest first',
  declare: (command) => command.option('--limit <number>', 'list at most this many bulk runs', wholeOption(1, 10_000), 20),

  async run(cli, { limit }) {
    const items = await listed<BulkView>(await cli.api('viewer'), '/bulk', {}, limit);
    const rows = items.map((run) => [secondText(run.createdAt), run.id, run.kind, run.by, bulkText(run)]);
    cli.print({ items }, () => (rows.length > 0 ? table(['created', 'bulk run', 'kind', 'by', 'state'], rows, cli.paint) : ''));
    if (!cli.json && items.length === 0) cli.terminal.say('There are no bulk runs.');
    return undefined;
  },
};

/** Follows a bulk run until it waits for a person or is at its end. */
export const bulkWatch: CliCommand = {
  name: 'bulk watch',
  summary: 'Follow a bulk run; it goes on without you',
  declare: (command) => command.argument('<id>', 'bulk run: bulk list shows them'),

  async run(cli, _, [id = '']) {
    const run = await followBulk(cli, await cli.api('viewer'), id, isAtRest);
    cli.print(run, () => '');
    const next = nextStep(run);
    if (!cli.json && next) cli.terminal.say(next);
    return undefined;
  },
};

interface ItemView {
  readonly orderId: string;
  readonly reference?: string;
  readonly outcome: string;
  readonly at?: string;
  readonly verified?: string;
  readonly refusals?: readonly { readonly code: string; readonly detail: string }[];
  readonly now?: { readonly fault: { readonly type: string; readonly message: string } | null };
}

/** Lists the orders of a bulk run with their outcomes. */
export const bulkItems: CliCommand<{ outcome?: string; csv?: true; limit: number }> = {
  name: 'bulk items',
  summary: 'List the orders of a bulk run',
  declare: (command) =>
    command
      .argument('<id>', 'bulk run: bulk list shows them')
      .addOption(new Option('--outcome <outcome>', 'only orders with this outcome').choices([...outcomes, 'left']))
      .option('--csv', 'print CSV')
      .option('--limit <number>', 'list at most this many orders', wholeOption(1, 100_000), 100_000),

  async run(cli, { outcome, csv, limit }, [id = '']) {
    const items = await listed<ItemView>(await cli.api('viewer'), `${bulkPath(id)}/items`, { outcome }, limit);
    const rows = items.map(({ orderId, reference = '', outcome, verified = '', at = '', refusals = [], now }) => {
      const why = now?.fault ? [`${now.fault.type}: ${now.fault.message}`] : refusals.map(({ code, detail }) => `${code}: ${detail}`);
      const rest = [outcome, verified, at, why.join(' ')];
      return csv ? [orderId, ...rest, reference] : [listedId(orderId, cli.terminal), reference, ...rest];
    });
    const rest = ['outcome', 'verified', 'at', 'because'];
    const columns = csv ? ['order', ...rest, 'reference'] : ['order', 'reference', ...rest];
    cli.print({ items }, () => (csv ? csvOf([columns, ...rows]) : rows.length > 0 ? table(columns, rows, cli.paint) : ''));
    return undefined;
  },
};

/** Returns RFC 4180 text. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
const csvOf = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => row.map((cell) => `"${(/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell).replaceAll('"', '""')}"`).join(',')).join('\r\n');
