import { Option } from 'commander';
import { bulkPath, nextStep, prepareBulk, withoutStop } from '#cli/bulk';
import type { CliCommand } from '#cli/command';
import { fieldsHelp } from '#cli/instruction-fields';
import { fieldsIn, textOption, wholeOption } from '#cli/options';
import { listed } from '#cli/orders';
import { chosenWork, parameterOption, type SolutionOptions } from '#cli/solutions';
import { listedId, table } from '#cli/text';
import { instructionCommands } from './order-instruct.ts';

interface Options extends SolutionOptions {
  reason: string;
  state?: string;
  workflow?: string;
  fingerprint?: string;
  fault?: string;
  submittedAfter?: string;
  submittedBefore?: string;
  ids?: string[];
  fields?: string;
  sameForAll?: true;
  rate: number;
  canary?: number;
  stopAfter?: number;
  continues?: string;
  key?: string;
}

interface ItemView {
  readonly orderId: string;
  readonly refusals?: readonly { readonly code: string; readonly detail: string }[];
}

const shownMax = 25;

/** Prepares one instruction for many orders, and shows how many of them can follow it. Nothing is sent. */
export const bulkPreview: CliCommand<Options> = {
  name: 'bulk preview',
  summary: 'Prepare one instruction for many orders',
  declare: (command) =>
    command
      .argument('[kind]', `kind of the instruction: ${Object.keys(instructionCommands).join(', ')}; not with --solution`)
      .requiredOption('--reason <text>', 'why the orders get the instruction', textOption)
      .addOption(new Option('--state <state>', 'only orders in this state').choices(['Pending', 'Processing', 'Processed', 'Error']))
      .option('--workflow <name>', 'only orders of this workflow', textOption)
      .option('--fingerprint <text>', 'only orders with an open exception of this fingerprint: exception groups shows it', textOption)
      .option('--fault <type>', 'only orders with this fault: CardDeclined', textOption)
      .option('--submitted-after <time>', 'only orders submitted after this time', textOption)
      .option('--submitted-before <time>', 'only orders submitted before this time', textOption)
      .option('--ids <id...>', 'only these orders')
      .option('--fields <json>', 'fields of the instruction: JSON such as {"answer": {"$cel": "order.sku"}}, @file, or @-', textOption)
      .option('--solution <id>', 'a solution in place of an instruction', textOption)
      .option(
        '--parameter <name=value>',
        'the value of a parameter of the solution; {"$cel": "…"} is evaluated for each order',
        parameterOption,
      )
      .option('--same-for-all', 'allow a literal value, which is then the same for each order')
      .option('--rate <number>', 'orders a second', wholeOption(1, 100), 10)
      .option('--canary <number>', 'pause after so many orders', wholeOption(1, 100_000))
      .option('--stop-after <number>', 'stop when so many orders have failed; default: never', wholeOption(1, 100_000))
      .option('--continues <id>', 'an earlier bulk run that did not reach these orders', textOption)
      .option('--key <text>', 'idempotency key: the same key leads to the same bulk run', textOption)
      .addHelpText('after', () => `\n${fieldsHelp()}`),

  async run(cli, { reason, fields, solution, parameter, sameForAll, rate, canary, stopAfter, continues, key, ...given }, [kind = '']) {
    const { state, workflow, fingerprint, fault, submittedAfter, submittedBefore, ids } = given;
    const api = await cli.api('operator');
    const chosen = await chosenWork(api, kind, {
      ...(fields === undefined ? {} : { fields: await fieldsIn(fields, cli.terminal) }),
      ...(solution ? { solution } : {}),
      ...(parameter ? { parameter } : {}),
    });
    const filter = { state, workflow, fingerprint, fault, submittedAfter, submittedBefore, ids };
    const run = await prepareBulk(cli, api, { filter, work: chosen.body, reason, rate, canary, stopAfter, sameForAll, continues, key });
    const refused = await listed<ItemView>(api, `${bulkPath(run.id)}/items`, { outcome: 'infeasible' }, shownMax);
    const rows = refused.map(({ orderId, refusals }) => [
      listedId(orderId, cli.terminal),
      refusals?.[0]?.code ?? '',
      refusals?.[0]?.detail ?? '',
    ]);
    cli.print({ ...run, infeasibleItems: refused }, () => (rows.length > 0 ? table(['order', 'cannot', 'because'], rows, cli.paint) : ''));
    if (!cli.json) for (const line of [withoutStop(run), nextStep(run)]) if (line) cli.terminal.say(line);
    return undefined;
  },
};
