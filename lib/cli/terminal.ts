import { text as textOf } from 'node:stream/consumers';

/** Where a command reads and writes; data and talk are kept apart, so that data can be piped. */
export interface Terminal {
  /** Data, for whoever reads the output. */
  readonly write: (text: string) => void;
  /** Talk, for the person who waits. */
  readonly say: (line: string) => void;
  readonly readInput: () => Promise<string>;
  /** Somebody can be asked, and can answer. */
  readonly canAsk: boolean;
  /** The output is a screen on which lines may be written again. */
  readonly isScreen: boolean;
  /** Of the output: `NO_COLOR` and pipes have none. */
  readonly colours: boolean;
  readonly size: () => { readonly columns: number; readonly rows: number };
}

export function processTerminal(environment: { readonly [name: string]: string | undefined }): Terminal {
  const { stdin, stdout, stderr } = process;
  // `redress ... | head` closes the pipe when it has seen enough: that is no failure.
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
    isScreen,
    colours: isScreen && !environment['NO_COLOR'],
    size: () => ({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 }),
  };
}
