import { type ChildProcess, spawn } from 'node:child_process';
import { root } from '../run.ts';

/** A program that is started for a round, and heard out. */
export interface Command {
  /** `code` is undefined where it was stopped: what was cut off has not failed. */
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
        // Apart from this terminal's group: an interrupt goes to the soak alone, which ends its round itself.
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
