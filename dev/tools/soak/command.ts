import { type ChildProcess, spawn } from 'node:child_process';
import { root } from '../run.ts';

/** A program that runs for one round, and whose output is collected. */
export interface Command {
  /** `code` is undefined if the program was stopped: an interrupted program has not failed. */
  run(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<{ readonly code: number | undefined; readonly output: string }>;
  stop(): void;
}

export function command(): Command {
  let child: ChildProcess | undefined;
  let isStopped = false;
  return {
    run: (args, env = {}) =>
      new Promise((resolve, reject) => {
        let output = '';
        // A process group of its own: an interrupt reaches only the soak, which then stops this process.
        child = spawn(process.execPath, [...process.execArgv, ...args], { cwd: root, env: { ...process.env, ...env }, detached: true });
        child.stdout?.on('data', (text: Buffer) => (output += text));
        child.stderr?.on('data', (text: Buffer) => (output += text));
        child.on('error', reject);
        child.on('close', (code) => resolve({ code: isStopped ? undefined : (code ?? 1), output }));
      }),
    stop() {
      isStopped = true;
      child?.kill('SIGTERM');
    },
  };
}
