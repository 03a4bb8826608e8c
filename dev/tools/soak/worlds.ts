import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { commitLoaded } from '../commit.ts';
import { root } from '../run.ts';
import type { Broken, Round, SoakSubject } from './measurement.ts';
import type { Message } from './worlds-worker.ts';

const worker = fileURLToPath(new URL('worlds-worker.ts', import.meta.url));
const seeds = 50;
/** Time for one world, which normally takes a tenth of a second. A longer run is an endless loop. */
const patienceMs = 180_000;

/**
 * Returns the command that plays a world again. The code of the simulation has one, too, but this process does not load the code that it
 * tries: no change can crash it.
 */
const againFor = (seed: number): string => `npm run simulate -- --seed ${seed} --runs 1 --trace # at ${commitLoaded()}`;

/** Simulated worlds in a process of their own, which stays the same from round to round unless a world crashes it. */
export function worlds(): SoakSubject {
  // Read now instead of when a law breaks, because hours may have passed by then.
  commitLoaded();
  let child: ChildProcess | undefined;
  let isStopped = false;
  const kill = () => {
    child?.kill('SIGKILL');
    child = undefined;
  };
  // A process group of its own: an interrupt reaches only the soak, which then stops this process.
  const start = () => fork(worker, { cwd: root, execArgv: [...process.execArgv, '--expose-gc'], detached: true });
  return {
    seeds,
    round: (first) =>
      roundOf((child ??= start()), first, (why, at) => {
        kill();
        return isStopped ? [] : [{ wrong: `the process was lost in this world: ${why}`, again: againFor(at) }];
      }),
    stop() {
      isStopped = true;
      kill();
    },
  };
}

function roundOf(child: ChildProcess, first: number, onLost: (why: string, at: number) => readonly Broken[]): Promise<Round> {
  const counts: { [what: string]: number } = {};
  const broken: Broken[] = [];
  let at = first;
  return new Promise((resolve) => {
    const end = (rest: Pick<Round, 'memory'>) => {
      clearTimeout(timer);
      child.removeAllListeners();
      resolve({ counts, broken, ...rest });
    };
    const lost = (why: string) => {
      broken.push(...onLost(why, at));
      end({});
    };
    const timer = setTimeout(() => lost(`it did not end within ${patienceMs / 1000} s`), patienceMs);
    child.once('exit', (code, signal) => lost(`it ended with ${code ?? signal}`));
    child.on('message', (message: Message) => {
      if ('memory' in message) return end(message);
      timer.refresh();
      at += 1;
      broken.push(...message.played.broken);
      for (const [what, count] of Object.entries(message.played.counts)) counts[what] = (counts[what] ?? 0) + count;
    });
    child.send({ first, runs: seeds });
  });
}
