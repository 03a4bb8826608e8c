import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's root folder. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs a program with this terminal and resolves with its exit code. */
export const run = (command: string, args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    // Programs of the packages ask the path for `node`: it must be the one that runs this.
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, ...options.env };
    const child = spawn(command, args, { stdio: 'inherit', cwd: root, ...options, env });
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => child.kill(signal));
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });

/** A program of the installed packages. */
export const installed = (name: string): string => `${root}node_modules/.bin/${name}`;
