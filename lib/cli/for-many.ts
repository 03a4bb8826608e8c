import { type Command, InvalidArgumentError } from 'commander';
import type { JsonObject } from '#core/data/json';
import { type BulkView, bulkPath, followBulk, isAtRest, nextStep, prepareBulk, withoutStop } from './bulk.ts';
import type { Cli } from './command.ts';
import { FailedError, UsageError } from './errors.ts';
import { finalKinds } from './final-kinds.ts';
import type { GivenInstruction } from './instruction.ts';
import { reasonFor, reasonHelp, textOption, wholeOption } from './options.ts';

/** The options with which an instruction goes to many orders instead of one. */
export interface ForMany {
  readonly all?: true;
  /** The conditions on the orders, such as `state=Error`. */
  readonly where?: readonly string[];
  readonly rate?: number;
  readonly canary?: number;
  readonly stopAfter?: number;
  readonly sameForAll?: true;
}

const finalHelp =
  'do not ask; without --yes, the command asks first, because the instruction cannot be taken back, and a script is refused';

/** The fields of a filter, by the names that a person types. */
const filterFields: { readonly [name: string]: string } = {
  state: 'state',
  workflow: 'workflow',
  fault: 'fault',
  fingerprint: 'fingerprint',
  'submitted-after': 'submittedAfter',
  'submitted-before': 'submittedBefore',
};

/** Declares what every instruction has: the order or many orders, and the reason. */
export const declareInstruction = (command: Command): Command =>
  command
    .argument('[id]', 'order id, or its beginning; not with --all')
    .option('--reason <text>', reasonHelp, textOption)
    .option('--dry-run', 'show the check without changing anything')
    .option('--yes', finalKinds.has(command.name()) ? finalHelp : 'with --all: start without asking')
    .option('--all', 'a bulk run over all orders of --where')
    .option('--where <name=value...>', `only these orders: ${Object.keys(filterFields).join(', ')}`, whereOption)
    .option('--rate <number>', 'with --all: orders a second', wholeOption(1, 100))
    .option('--canary <number>', 'with --all: pause after so many orders', wholeOption(1, 100_000))
    .option('--stop-after <number>', 'with --all: stop when so many orders have failed', wholeOption(1, 100_000))
    .option('--same-for-all', 'with --all: allow a literal value, which is then the same for each order');

/** Collects the conditions of `--where`. */
function whereOption(given: string, before: readonly string[] = []): readonly string[] {
  const [, name = ''] = /^([a-z-]+)=./s.exec(given) ?? [];
  if (Object.hasOwn(filterFields, name)) return [...before, given];
  throw new InvalidArgumentError(`Expected NAME=VALUE, with one of these names: ${Object.keys(filterFields).join(', ')}.`);
}

/** Throws UsageError unless the command names either one order or many orders. */
export function assertOneOrMany(id: string, { all, where, rate, canary, stopAfter, sameForAll }: ForMany): void {
  if (all && id !== '') throw new UsageError('Give the id of one order, or --all with --where, not both.');
  if (all && where === undefined) throw new UsageError('Say with --where which orders: --all --where state=Error.');
  if (all) return;
  if (id === '') throw new UsageError('Give the id of an order, or --all with --where for many orders.');
  if ([where, rate, canary, stopAfter, sameForAll].some((each) => each !== undefined))
    throw new UsageError('--where, --rate, --canary, --stop-after and --same-for-all go with --all.');
}

interface BulkOptions extends ForMany {
  readonly reason?: string;
  readonly dryRun?: true;
  readonly yes?: true;
}

/** Prepares a bulk run of an instruction, shows how many orders can follow the instruction, and starts the run if the person agrees. */
export async function giveToMany(cli: Cli, instruction: GivenInstruction, how: BulkOptions): Promise<number | undefined> {
  const { dryRun, yes, where = [], rate = 10, canary, stopAfter, sameForAll } = how;
  // A dry run needs a reason, too: it prepares a bulk run, which a person may start later.
  const reason = reasonFor(how.reason === undefined ? {} : { reason: how.reason });
  if (!dryRun && !yes && (!cli.terminal.canAsk || cli.json))
    throw new UsageError('An instruction for many orders starts only with --yes. Look at it with --dry-run.');
  const api = await cli.api('operator');
  const filter = Object.fromEntries(
    where.map((each) => each.split(/=(.*)/s)).map(([name = '', value]) => [filterFields[name] ?? '', value]),
  );
  const work = { instruction: instruction as JsonObject };
  const ready = await prepareBulk(cli, api, { filter, work, reason, rate, canary, stopAfter, sameForAll });
  const missingLimit = withoutStop(ready);
  if (!cli.json && missingLimit) cli.terminal.say(missingLimit);
  if (dryRun || ready.state !== 'ready' || ready.feasible === 0) return printRun(cli, ready);
  if (!yes && !(await cli.terminal.confirm(`Start the bulk run for ${ready.feasible} orders?`)))
    throw new FailedError(`Nothing was changed. ${nextStep(ready)}`);
  await api.call('POST', `${bulkPath(ready.id)}/start`, { body: { reason } });
  return printRun(cli, await followBulk(cli, api, ready.id, (run) => run.state !== 'ready' && isAtRest(run)));
}

/** Prints a bulk run and the next command. Returns the exit code. */
function printRun(cli: Cli, run: BulkView): number | undefined {
  cli.print(run, () => '');
  const next = nextStep(run);
  if (!cli.json && next) cli.terminal.say(next);
  return run.state === 'stopped' || (run.state === 'ready' && run.feasible === 0) ? 1 : undefined;
}
