import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { commitLoaded } from '../commit.ts';
import { root } from '../run.ts';
import type { Broken, Round, Thing } from './thing.ts';
import type { Told } from './worlds-worker.ts';

const worker = fileURLToPath(new URL('worlds-worker.ts', import.meta.url));
const seeds = 50;
/** For one world, which takes a tenth of a second: longer is a loop without an end. */
const patienceMs = 180_000;

/** Said here once more: this process loads nothing of what it tries, so that nothing can take it down. */
const againFor = (seed: number): string => `npm run simulate -- --seed ${seed} --runs 1 --trace # at ${commitLoaded()}`;

/** Simulated worlds in a process of their own, which stays the same from round to round, unless a world takes it down. */
export function worlds(): Thing {
  // Now, not when a law is broken: hours may have passed by then.
  commitLoaded();
  let child: ChildProcess | undefined;
  let isStopped = false;
  const kill = () => {
    child?.kill('SIGKILL');
    child = undefined;
  };
  // Apart from this terminal's group: an interrupt goes to the soak alone, which ends its round itself.
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
    child.on('message', (told: Told) => {
      if ('memory' in told) return end(told);
      timer.refresh();
      at += 1;
      broken.push(...told.played.broken);
      for (const [what, count] of Object.entries(told.played.counts)) counts[what] = (counts[what] ?? 0) + count;
    });
    child.send({ first, runs: seeds });
  });
}
