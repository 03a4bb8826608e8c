import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's root folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs a program with this terminal and resolves with its exit code. A `quiet` program prints its output only if it fails. */
export const run = (command: string, args: readonly string[], { quiet = false, ...options }: RunOptions = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    // Programs of packages look for `node` on the path: it must be the one that runs this.
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, ...options.env };
    const child = spawn(command, args, {
      stdio: ['inherit', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
      cwd: root,
      ...options,
      env,
    });
    const printed: Buffer[] = [];
    for (const output of [child.stdout, child.stderr]) output?.on('data', (chunk: Buffer) => printed.push(chunk));
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => child.kill(signal));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== 0) process.stderr.write(Buffer.concat(printed));
      resolve(code ?? 1);
    });
  });

interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly quiet?: boolean;
}

/** A program of the installed packages. */
export const installed = (name: string): string => `${root}node_modules/.bin/${name}`;
