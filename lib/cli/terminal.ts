import { text as textOf } from 'node:stream/consumers';
import { confirm } from '@clack/prompts';

/** The input and output of a command. Data and messages are separate, so that data can be piped. */
export interface Terminal {
  /** Writes data to standard output. */
  readonly write: (text: string) => void;
  /** Writes a message for the person to standard error. */
  readonly say: (line: string) => void;
  readonly readInput: () => Promise<string>;
  /** Whether a person can answer a prompt. */
  readonly canAsk: boolean;
  /** Asks a question; resolves to whether the person says yes. No answer counts as no. */
  readonly confirm: (question: string) => Promise<boolean>;
  /** Whether the output is a screen whose lines can be redrawn. */
  readonly isScreen: boolean;
  /** Whether the output has colors: not with `NO_COLOR` or in a pipe. */
  readonly colours: boolean;
  readonly size: () => { readonly columns: number; readonly rows: number };
}

export function processTerminal(environment: { readonly [name: string]: string | undefined }): Terminal {
  const { stdin, stdout, stderr } = process;
  // `redress ... | head` closes the pipe early, which is not a failure.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  const isScreen = stdout.isTTY === true && environment['TERM'] !== 'dumb';
  return {
    write: (text) => void stdout.write(text),
    say: (line) => void stderr.write(`${line}\n`),
    readInput: () => textOf(stdin),
    canAsk: stdin.isTTY === true && stderr.isTTY === true,
    confirm: async (message) => (await confirm({ message, initialValue: false, output: stderr })) === true,
    isScreen,
    colours: isScreen && !environment['NO_COLOR'],
    size: () => ({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 }),
  };
}
