import type { Command } from 'commander';
import type { Embedded } from '#adapters/sqlite/open';
import type { Role } from '#api/authentication';
import type { Store } from '#ports/store';
import type { Config } from '#runtime/config';
import type { Api } from './http.ts';
import type { Terminal } from './terminal.ts';
import type { Paint } from './text.ts';

/** The context of a command: the common settings, and access to the system. */
export interface Cli {
  readonly terminal: Terminal;
  /** The words of the command line as they were typed. */
  readonly args: readonly string[];
  readonly paint: Paint;
  /** Whether to print JSON for machines. */
  readonly json: boolean;
  readonly config: Config;
  readonly dataFolder: string;
  /** The URL of the system. */
  readonly url: string;
  /** The token of `--token` or REDRESS_TOKEN. */
  readonly givenToken: string | undefined;
  /** Returns a hint with the names of commands as the person types them. */
  typed(hint: string): string;
  /** Writes the command's result: the data as JSON with `--json`, else the text. */
  print(data: unknown, text: () => string): void;
  /** Returns the HTTP API. Its calls carry the given token or, without one, a token of this role, signed with the data folder's key. */
  api(role: Role, client?: string): Promise<Api>;
  /** Opens the store of the data folder while `work` runs. Rejects with SetupError when there is no store. */
  withData<T>(work: (embedded: Embedded) => Promise<T>): Promise<T>;
  /** Opens the system's store, embedded or on AWS, while `work` runs. Rejects with SetupError when there is no store. */
  withStore<T>(work: (store: Store) => Promise<T>): Promise<T>;
}

/** One command: a file in `commands/`. */
export interface CliCommand<O extends object = object> {
  /** The name with its group: `order list`. */
  readonly name: string;
  readonly summary: string;
  /** A synonym of the last word of the name, which people may type instead. */
  readonly alias?: string;
  /** Set when `--data` of this command is the payload to send. The data folder then comes from REDRESS_DATA. */
  readonly sendsData?: true;
  /** Adds arguments and options. */
  declare?(command: Command): Command;
  /** Runs the command; resolves with its exit code, or undefined for 0. */
  run(cli: Cli, options: O, args: readonly string[]): Promise<number | undefined>;
}
