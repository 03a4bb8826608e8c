import type { Command } from 'commander';
import type { Embedded } from '#adapters/sqlite/open';
import type { Role } from '#api/authentication';
import type { Store } from '#ports/store';
import type { Config } from '#runtime/config';
import type { Api } from './http.ts';
import type { Terminal } from './terminal.ts';
import type { Paint } from './text.ts';

/** What a command gets to work with: the settings that every command takes, and the ways to the system. */
export interface Cli {
  readonly terminal: Terminal;
  readonly paint: Paint;
  /** Output for machines. */
  readonly json: boolean;
  readonly config: Config;
  readonly dataFolder: string;
  /** Where the system listens. */
  readonly url: string;
  /** Writes the command's result: the data as JSON, or the text for people. */
  print(data: unknown, text: () => string): void;
  /** The HTTP API with a token of that role: the given one, or one signed with the data folder's key. */
  api(role: Role, client?: string): Promise<Api>;
  /** Opens the data folder's store for one piece of work. Rejects with SetupError where there is none. */
  withData<T>(work: (embedded: Embedded) => Promise<T>): Promise<T>;
  /** Opens the store that the system uses, a table on AWS as well, for one piece of work. Rejects with SetupError as `withData`. */
  withStore<T>(work: (store: Store) => Promise<T>): Promise<T>;
}

/** One command: a file in `commands/`. */
export interface CliCommand<O extends object = object> {
  /** With the words of its group: `order list`. */
  readonly name: string;
  readonly summary: string;
  /** Its `--data` is what it sends, and not the data folder: that comes from REDRESS_DATA. */
  readonly sendsData?: true;
  /** Adds arguments and options. */
  declare?(command: Command): Command;
  /** Resolves with the exit code, when it is not 0. */
  run(cli: Cli, options: O, args: readonly string[]): Promise<number | undefined>;
}
