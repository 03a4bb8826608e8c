import { CommanderError } from 'commander';
import { isLoopback } from '#api/loopback';
import { commands } from '#cli/commands/index';
import { readConfig } from '#runtime/config';
import { createSigning } from './access.ts';
import type { Cli, CliCommand } from './command.ts';
import { withData, withTable } from './data.ts';
import { UsageError } from './errors.ts';
import { typedHints } from './hints.ts';
import { createApi } from './http.ts';
import { programOf } from './program.ts';
import { report } from './report.ts';
import type { Terminal } from './terminal.ts';
import { painter } from './text.ts';

export interface Surroundings {
  readonly environment: { readonly [name: string]: string | undefined };
  readonly terminal: Terminal;
}

/** The options of every command. */
interface CommonOptions {
  readonly json?: boolean;
  readonly url?: string;
  readonly token?: string;
  readonly data?: string;
}

/** Runs one command line and resolves with its exit code: 0 done, 1 refused, 2 wrong use, 3 cannot reach the system. */
export async function runCli(args: readonly string[], { environment, terminal: given }: Surroundings): Promise<number> {
  const typed = typedHints(commands, environment);
  const terminal = { ...given, say: (line: string) => given.say(typed(line)) };
  let exitCode = 0;
  const program = programOf(commands, terminal, async (command, options, operands) => {
    const cli = cliOf(settingsOf(command, options), { environment, terminal, typed, args });
    exitCode = (await command.run(cli, options, operands)) ?? 0;
  });
  try {
    await program.parseAsync(helpForm(args), { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has already printed the error, with a suggestion if it has one.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return report(error, terminal, environment);
  }
}

const settingsOf = ({ sendsData }: CliCommand, { data, ...settings }: CommonOptions): CommonOptions =>
  sendsData || data === undefined ? settings : { ...settings, data };

/** Rewrites `help order list` to `order list --help`: commander's `help` accepts a group, but not a command in it. */
const helpForm = ([first, ...rest]: readonly string[]): readonly string[] =>
  first === 'help' && rest.length > 1 ? [...rest, '--help'] : first === undefined ? rest : [first, ...rest];

function cliOf(
  { json = false, data, url: givenUrl, token: givenToken }: CommonOptions,
  { environment, terminal, typed, args }: Surroundings & Pick<Cli, 'typed' | 'args'>,
): Cli {
  const config = readConfig(environment);
  const dataFolder = data ?? config.dataFolder;
  const url = givenUrl ?? (environment['REDRESS_URL'] || `http://127.0.0.1:${config.port}`);
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) throw new UsageError(`Expected a URL such as http://127.0.0.1:3000, got ${url}.`);
  const given = givenToken ?? (environment['REDRESS_TOKEN'] || undefined);
  return {
    terminal,
    args,
    json,
    config,
    dataFolder,
    url,
    givenToken: given,
    typed,
    paint: painter(terminal.colours),
    print: (value, text) => terminal.write(json ? `${JSON.stringify(value)}\n` : text()),
    async api(role, client) {
      if (given !== undefined) return createApi({ url, token: async () => given });
      // Another host must not get a token with which it could call this machine.
      if (!isLoopback(new URL(url).hostname))
        throw new UsageError(`No token for ${url}: set REDRESS_TOKEN or --token. The key of the data folder signs for this machine alone.`);
      return createApi({ url, token: createSigning({ role, client }, dataFolder) });
    },
    withData: (work) => withData(config, dataFolder, work),
    withStore: (work) =>
      config.adapters === 'aws' ? withTable(environment, work) : withData(config, dataFolder, ({ store }) => work(store)),
  };
}
