import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { root } from '../../run.ts';
import { type Loaded, type Played, type PlayRequest, sign } from './messages.ts';

const file = fileURLToPath(new URL('worker.ts', import.meta.url));
/** Maximum time between two signs of a running world. They normally come ten times a second. */
const patienceMs = 60_000;
/** The number of worlds after which the process is replaced, to free the memory that broken worlds leave behind. */
const worldsMax = 4000;

/** Thrown if the worker does not answer in time, or is dead: an endless loop, exhausted memory, or a module that does not load. */
export class WorkerLost extends Error {
  override readonly name = 'WorkerLost';
}

/** A process that plays worlds, and is restarted when it is lost. */
export class Player {
  private child: ChildProcess | undefined;
  private readonly mutant: string | undefined;
  private worlds = 0;
  atLoading: Loaded['atLoading'] = {};

  constructor(mutant?: string) {
    this.mutant = mutant;
  }

  async play(request: PlayRequest): Promise<Played> {
    if (++this.worlds % worldsMax === 0) this.stop();
    await this.start();
    const played = this.answer<Played>();
    this.child?.send(request);
    return played;
  }

  async start(): Promise<void> {
    if (this.child) return;
    const env = { ...process.env, ...(this.mutant === undefined ? {} : { MUTANT: this.mutant }) };
    // A process group of its own, so that an interrupt of this run does not look like a crash that a change caused.
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
      const finish = (then: () => void) => {
        clearTimeout(timer);
        child?.removeAllListeners();
        then();
      };
      const lose = (why: string) =>
        finish(() => {
          this.stop();
          reject(new WorkerLost(why));
        });
      const timer = setTimeout(() => lose(`the worker sent nothing for ${patienceMs / 1000} s`), patienceMs);
      child?.once('exit', (code, signal) => lose(`the process ended with ${code ?? signal}`));
      child?.on('message', (message) => {
        if (message === sign) timer.refresh();
        else finish(() => resolve(message as T));
      });
    });
  }
}
