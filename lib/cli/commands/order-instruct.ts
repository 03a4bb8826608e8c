import type { Command } from 'commander';
import type { CliCommand } from '#cli/command';
import { UsageError } from '#cli/errors';
import { declareInstruction } from '#cli/for-many';
import { type GivenInstruction, giveInstruction, type InstructionOptions } from '#cli/instruction';
import { secondsOption, textOption, wholeOption } from '#cli/options';
import { readData } from '#cli/submission-file';
import type { Terminal } from '#cli/terminal';
import type { OrderInstructionKind } from '#core/instructions/index';
import { orderCancel, orderCompensate, orderMarkCompensated, orderTerminate } from './order-cancel.ts';
import { orderReplaceInput } from './order-replace-input.ts';
import { orderResubmit } from './order-resubmit.ts';
import { orderResume, orderSuspend } from './order-suspend.ts';

interface Options extends InstructionOptions {
  readonly path?: string;
  readonly data?: string;
  readonly effect?: string;
  readonly undo?: boolean;
  readonly undoFirst?: true;
  readonly keepEffects?: true;
  readonly version?: number;
  readonly endBy?: string;
  readonly maxFailures?: number;
  readonly retries?: number;
  readonly interval?: number;
  readonly set?: readonly string[];
  readonly handle?: readonly string[];
  readonly workflow?: string;
}

interface Instructing {
  readonly kind: OrderInstructionKind;
  readonly summary: string;
  readonly sendsData?: true;
  readonly options?: (command: Command) => Command;
  readonly fields?: (options: Options, terminal: Pick<Terminal, 'readInput'>) => Promise<object> | object;
}

const instructing = ({ kind, summary, sendsData, options = (command) => command, fields }: Instructing): CliCommand<Options> => ({
  name: `order ${kind}`,
  summary,
  ...(sendsData ? { sendsData } : {}),
  declare: (command) => options(declareInstruction(command)),
  async run(cli, given, [id = '']) {
    const instruction: GivenInstruction = { kind, ...(await fields?.(given, cli.terminal)) };
    return giveInstruction(cli, id, instruction, given);
  },
});

const withPath = (command: Command): Command =>
  command.option('--path <path>', 'the activity; default: the one at which the order is blocked', textOption);
const pathOf = ({ path }: Options): object => (path === undefined ? {} : { path });

const orderSkip = instructing({
  kind: 'skip',
  summary: 'Close a step without doing it',
  sendsData: true,
  options: (command) =>
    withPath(command)
      .option('--data <json>', 'output: JSON, @file, or @- for standard input')
      .option('--effect <none|done>', 'done: somebody did it by hand', textOption, 'none'),
  fields: async (given, terminal) => ({
    ...pathOf(given),
    ...(given.data === undefined ? {} : { output: await readData(given.data, terminal) }),
    effect: effectOf(given.effect),
  }),
});

function effectOf(effect: string | undefined): string {
  if (effect === 'none' || effect === 'done') return effect;
  throw new UsageError(`Expected --effect none or --effect done, got ${effect}.`);
}

const orderResumeAt = instructing({
  kind: 'resume-at',
  summary: 'Continue an order at an earlier or later activity',
  options: (command) =>
    command
      .requiredOption(
        '--path <path>',
        'an activity outside every parallel and loop; if it is in a branch, the branch was taken; if in a handler, the handler is running',
        textOption,
      )
      .option('--no-undo', 'steps that were done since that activity stay done, and are not requested again'),
  fields: ({ path, undo = true }) => ({ path, undoBetween: undo }),
});

const orderRecover = instructing({
  kind: 'recover',
  summary: 'Undo what depends on a step, and notify its readers',
  options: (command) =>
    command.option(
      '--path <path>',
      'the activity whose affected scope is undone, and at which the order continues; default: the whole order',
      textOption,
    ),
  fields: pathOf,
});

const orderRetryUndo = instructing({
  kind: 'retry-undo',
  summary: 'Request a failing undo again now',
  options: (command) => command.option('--path <path>', 'the step whose undo fails; default: all such steps', textOption),
  fields: pathOf,
});

const orderRestart = instructing({
  kind: 'restart',
  summary: 'End an order and begin it again',
  sendsData: true,
  options: (command) =>
    command
      .option('--data <json>', 'body of the new order: JSON, @file, or @- for standard input')
      .option('--version <number>', 'version of the workflow for the new order', wholeOption(1, 1_000_000))
      .option('--undo-first', 'undo the whole order first')
      .option('--keep-effects', 'allow effects that stay, although the new order has them again'),
  fields: async ({ data, version, undoFirst, keepEffects }, terminal) => ({
    ...(data === undefined ? {} : { order: await readData(data, terminal) }),
    ...(version === undefined ? {} : { version }),
    undoFirst: undoFirst ?? false,
    ...(keepEffects ? { keepEffects } : {}),
  }),
});

const orderAmend = instructing({
  kind: 'amend',
  summary: 'Change limits, variables or handlers of one order',
  options: (command) =>
    command
      .option('--end-by <time>', 'when the order must have ended: 2026-01-31T12:00:00Z', textOption)
      .option('--max-failures <number>', 'how often a step may be late', wholeOption(0, 1000))
      .option('--path <path>', 'the retry to change, or an activity inside it', textOption)
      .option('--retries <number>', 'further runs of the retry at --path', wholeOption(0, 1000))
      .option('--interval <seconds>', 'seconds between the runs of that retry', secondsOption)
      .option('--set <name=json...>', 'new values of variables: total=12')
      .option('--handle <fault=workflow...>', 'have a workflow handle faults of this type; after it, the failed step is requested again'),
  fields: ({ endBy, maxFailures, path, retries, interval, set, handle }) => ({
    ...(endBy === undefined ? {} : { endBy }),
    ...(maxFailures === undefined ? {} : { maxFailures }),
    ...(path === undefined
      ? {}
      : {
          retry: { path, ...(retries === undefined ? {} : { retries }), ...(interval === undefined ? {} : { intervalSeconds: interval }) },
        }),
    ...(set === undefined ? {} : { variables: Object.fromEntries(set.map(variableIn)) }),
    ...(handle === undefined ? {} : { handle: handle.map(handlerIn) }),
  }),
});

const orderMigrate = instructing({
  kind: 'migrate',
  summary: 'Move one order to another version',
  options: (command) =>
    command.requiredOption('--version <number>', 'version of the workflow to which the order moves', wholeOption(1, 1_000_000)),
  fields: ({ version }) => ({ version }),
});

function variableIn(text: string): readonly [string, unknown] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new UsageError(`Expected NAME=JSON, got ${text}.`);
  try {
    return [name, JSON.parse(value)];
  } catch {
    throw new UsageError(`The value of ${name} is not JSON: ${value}.`);
  }
}

/** Parses `CardDeclined=rescue` or `CardDeclined=rescue@2`. */
function handlerIn(text: string): object {
  const [, fault, workflow, version] = /^([^=]+)=([^=@]+)(?:@(\d{1,9}))?$/.exec(text) ?? [];
  if (fault === undefined) throw new UsageError(`Expected FAULT=WORKFLOW or FAULT=WORKFLOW@VERSION, got ${text}.`);
  return { fault, workflow, ...(version === undefined ? {} : { version: Number(version) }) };
}

const orderHandle = instructing({
  kind: 'handle',
  summary: 'Have a workflow handle exceptions of a finished order',
  options: (command) =>
    command
      .requiredOption('--workflow <name>', 'the workflow that handles each open exception, as an order of its own', textOption)
      .option('--version <number>', 'version of that workflow', wholeOption(1, 1_000_000)),
  fields: ({ workflow, version }) => ({ workflow, ...(version === undefined ? {} : { version }) }),
});

const orderAcknowledge = instructing({ kind: 'acknowledge', summary: 'Note that you have seen an exception' });

/** The command of each kind of instruction, in the order of the help. The compiler reports a kind without a command. */
export const instructionCommands: { readonly [kind in OrderInstructionKind]: CliCommand } = {
  resubmit: orderResubmit,
  skip: orderSkip,
  'replace-input': orderReplaceInput,
  'resume-at': orderResumeAt,
  restart: orderRestart,
  recover: orderRecover,
  compensate: orderCompensate,
  'retry-undo': orderRetryUndo,
  'mark-compensated': orderMarkCompensated,
  cancel: orderCancel,
  terminate: orderTerminate,
  suspend: orderSuspend,
  resume: orderResume,
  amend: orderAmend,
  migrate: orderMigrate,
  handle: orderHandle,
  acknowledge: orderAcknowledge,
};
