import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { root } from '../../run.ts';
import { type Ask, type Loaded, type Played, sign } from './messages.ts';

const file = fileURLToPath(new URL('worker.ts', import.meta.url));
/** Between two signs that a world goes on: they come some ten times a second. */
const patienceMs = 60_000;
/** What broken worlds leave behind in memory goes with the process. */
const worldsMax = 4000;

/** The worker did not answer in time, or is dead: a loop without an end, memory without an end, or a module that cannot be loaded. */
export class WorkerLost extends Error {
  override readonly name = 'WorkerLost';
}

/** A process that plays worlds, started anew when it is lost. */
export class Player {
  private child: ChildProcess | undefined;
  private readonly mutant: string | undefined;
  private worlds = 0;
  atLoading: Loaded['atLoading'] = {};

  constructor(mutant?: string) {
    this.mutant = mutant;
  }

  async play(ask: Ask): Promise<Played> {
    if (++this.worlds % worldsMax === 0) this.stop();
    await this.start();
    const played = this.answer<Played>();
    this.child?.send(ask);
    return played;
  }

  async start(): Promise<void> {
    if (this.child) return;
    const env = { ...process.env, ...(this.mutant === undefined ? {} : { MUTANT: this.mutant }) };
    // Apart from this terminal's group: what interrupts the run must not look as if a change had taken the process down.
    this.child = fork(file, { cwd: root, env, detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    this.atLoading = (await this.answer<Loaded>()).atLoading;
  }

  stop(): void {
    this.child?.kill('SIGKILL');
    this.child = undefined;
  }

  private answer<T>(): Promise<T> {
    const { child } = this;
    return new Promise((resolve, reject) => {
      const settle = (then: () => void) => {
        clearTimeout(timer);
        child?.removeAllListeners();
        then();
      };
      const lose = (why: string) =>
        settle(() => {
          this.stop();
          reject(new WorkerLost(why));
        });
      const timer = setTimeout(() => lose(`nothing more came of it, for ${patienceMs / 1000} s`), patienceMs);
      child?.once('exit', (code, signal) => lose(`the process ended with ${code ?? signal}`));
      child?.on('message', (message) => {
        if (message === sign) timer.refresh();
        else settle(() => resolve(message as T));
      });
    });
  }
}
