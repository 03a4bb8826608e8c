import { readFileSync } from 'node:fs';
import { Command, Help, type Option } from 'commander';
import type { CliCommand } from './command.ts';
import type { Terminal } from './terminal.ts';

const groups: { readonly [name: string]: string } = {
  order: 'Submit orders, inspect them and repair them',
  workflow: 'Check and draw workflows before orders use them',
  exception: 'List and explain what went wrong',
  bulk: 'Give one instruction to many orders',
  group: 'Say who the people of a group are',
  task: 'List, claim and resolve the tasks of people',
  solution: 'List, write and delete instructions that people keep, and make rules from them',
  breaker: 'Show circuit breakers of remote services',
  channel: 'Inspect, close and open channels; read queues',
  'dead-letter': 'List, resubmit and discard dead letters',
  rule: 'Write, compare and test rules',
  client: 'Register the clients of the API',
};

const exitCodes =
  'Exit codes: 0 done, 1 refused, 2 wrong use, 3 cannot reach the system. For some commands, such as order watch, 1 has more meanings: see their help.';

type Run = (command: CliCommand, options: object, args: readonly string[]) => Promise<void>;

/** Builds the commander program. Wrong use throws a CommanderError instead of ending the process. */
export function programOf(commands: readonly CliCommand[], terminal: Terminal, run: Run): Command {
  const program = configured(new Command('redress'), terminal)
    .description('The command line of Redress, for operators and scripts.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'Print the help of a command')
    .option('--json', 'print JSON for machines, in a stable format')
    .option('--url <url>', 'URL of the system (REDRESS_URL, else http://127.0.0.1:PORT)')
    .option('--token <token>', "token to sign in with (REDRESS_TOKEN, else one signed with the data folder's key)")
    .option('--data <folder>', 'data folder (REDRESS_DATA, else .redress)')
    .addHelpText('after', `\n${exitCodes}`);

  for (const command of commands) {
    const [first = '', second] = command.name.split(' ');
    const parent = second === undefined ? program : groupOf(program, first, terminal);
    const leaf = configured(parent.command(second ?? first), terminal)
      .summary(command.summary)
      .description(`${command.summary}.`);
    if (command.alias !== undefined) leaf.alias(command.alias);
    command.declare?.(leaf);
    leaf.action(() => run(command, leaf.optsWithGlobals(), leaf.args));
  }
  return program;
}

function groupOf(program: Command, name: string, terminal: Terminal): Command {
  const summary = groups[name] ?? name;
  return (
    program.commands.find((command) => command.name() === name) ??
    configured(program.command(name), terminal).summary(summary).description(`${summary}.`)
  );
}

/** Returns the help text of an option. It says which options a command needs. */
const describe = (option: Option): string => {
  const text = Help.prototype.optionDescription.call(new Help(), option);
  return option.mandatory ? `${text} (required)` : text;
};

/** Returns the options of every command without those that this command has itself, such as `--data` with another meaning. */
const globalOptions = (command: Command): Option[] => {
  const help = Object.assign(new Help(), { showGlobalOptions: true });
  return help.visibleGlobalOptions(command).filter(({ long }) => command.options.every((own) => own.long !== long));
};

const configured = (command: Command, terminal: Terminal): Command =>
  command
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: globalOptions, optionDescription: describe })
    .configureOutput({
      writeOut: terminal.write,
      writeErr: (text) => terminal.say(text.trimEnd().replace(/^error: /, 'redress: ')),
      getOutHelpWidth: () => terminal.size().columns,
      getErrHelpWidth: () => terminal.size().columns,
    });

function version(): string {
  const root = import.meta.url.endsWith('.ts') ? '../../' : '../../../';
  return (JSON.parse(readFileSync(new URL(`${root}package.json`, import.meta.url), 'utf8')) as { version: string }).version;
}
