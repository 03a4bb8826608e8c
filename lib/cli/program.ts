import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { CliCommand } from './command.ts';
import type { Terminal } from './terminal.ts';

const groups: { readonly [name: string]: string } = {
  order: 'submits orders, looks at them and puts them right',
  workflow: 'what is known of a workflow before any order runs on it',
  breaker: 'remote services that are away',
  channel: 'lists, closes and opens channels, and reads queues of the data folder',
  'dead-letter': 'messages that cannot be processed: lists, repairs and discards them',
  client: 'clients of the API and what they may name',
};

const exitCodes = 'Exit codes: 0 done, 1 refused, 2 wrong use, 3 cannot reach the system.';

type Run = (command: CliCommand, options: object, args: readonly string[]) => Promise<void>;

/** The command line as commander sees it; wrong use throws a CommanderError instead of ending the process. */
export function programOf(commands: readonly CliCommand[], terminal: Terminal, run: Run): Command {
  const program = settled(new Command('redress'), terminal)
    .description('The command line of Redress, for operators and scripts.')
    .version(version(), '-V, --version', 'prints the version')
    .helpOption('-h, --help', 'prints this')
    .helpCommand('help [command]', 'prints what a command takes')
    .option('--json', 'output for machines: data only, stable')
    .option('--url <url>', 'where the system listens (REDRESS_URL, else this machine at PORT)')
    .option('--token <token>', "signs in with this token (REDRESS_TOKEN, else one signed with the data folder's key)")
    .option('--data <folder>', 'the data folder (REDRESS_DATA, else .redress)')
    .addHelpText('after', `\n${exitCodes}`);

  for (const command of commands) {
    const [first = '', second] = command.name.split(' ');
    const parent = second === undefined ? program : groupOf(program, first, terminal);
    const leaf = settled(parent.command(second ?? first), terminal)
      .summary(command.summary)
      .description(`${capitalised(command.summary)}.`);
    command.declare?.(leaf);
    leaf.action(() => run(command, leaf.optsWithGlobals(), leaf.args));
  }
  return program;
}

function groupOf(program: Command, name: string, terminal: Terminal): Command {
  const summary = groups[name] ?? name;
  return (
    program.commands.find((command) => command.name() === name) ??
    settled(program.command(name), terminal)
      .summary(summary)
      .description(`${capitalised(summary)}.`)
  );
}

const settled = (command: Command, terminal: Terminal): Command =>
  command
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: terminal.write,
      writeErr: (text) => terminal.say(text.trimEnd().replace(/^error: /, 'redress: ')),
      getOutHelpWidth: () => terminal.size().columns,
      getErrHelpWidth: () => terminal.size().columns,
    });

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function version(): string {
  const root = import.meta.url.endsWith('.ts') ? '../../' : '../../../';
  return (JSON.parse(readFileSync(new URL(`${root}package.json`, import.meta.url), 'utf8')) as { version: string }).version;
}
