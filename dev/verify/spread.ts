import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Json } from '#core/data/json';

/** Work that is cut into jobs, each of which runs in one of several processes. Jobs and results are plain JSON. */
export interface Spread<Job, Result> {
  /** Module that exports `work(job)`, which returns a result or a promise of one: `new URL('./x.ts', import.meta.url)`. */
  readonly module: URL;
  /** The next job is taken only when a process is free, so a generator that ends early starts no more work. */
  readonly jobs: Iterable<Job>;
  /** The number of processes. Each runs many jobs. */
  readonly cores: number;
  /** Called in the order of completion, not of the start. */
  readonly onResult: (result: Result, job: Job) => void;
  /** Another Node than this one, or other flags. */
  readonly execPath?: string;
  readonly execArgv?: readonly string[];
}

/** The message with which a process answers a job. */
export type Answer = { readonly result: Json } | { readonly error: string };

/** Resolves when all jobs are done. Rejects as soon as one fails or its process crashes, and stops the others. */
export async function spread<Job extends Json, Result>(work: Spread<Job, Result>): Promise<void> {
  const left = work.jobs[Symbol.iterator]();
  const processes = Array.from({ length: work.cores }, () => start(work));
  try {
    await Promise.all(processes.map((child) => serve(child, left, work.onResult)));
  } finally {
    for (const child of processes) child.kill();
  }
}

/** Cuts a range of seeds into pieces; each piece is a job. The last one may be shorter. */
export function* seedsFrom(first: number, runs: number, piece: number): Generator<{ readonly first: number; readonly runs: number }> {
  for (let at = first; at < first + runs; at += piece) yield { first: at, runs: Math.min(piece, first + runs - at) };
}

const start = <Job, Result>({ module, execPath, execArgv }: Spread<Job, Result>): ChildProcess =>
  fork(fileURLToPath(new URL('./spread-worker.ts', import.meta.url)), [module.href], {
    ...(execPath === undefined ? {} : { execPath }),
    ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });

async function serve<Job extends Json, Result>(
  child: ChildProcess,
  left: Iterator<Job>,
  onResult: Spread<Job, Result>['onResult'],
): Promise<void> {
  for (let next = left.next(); !next.done; next = left.next()) onResult((await answerOf(child, next.value)) as Result, next.value);
}

function answerOf(child: ChildProcess, job: Json): Promise<Json> {
  return new Promise((resolve, reject) => {
    const exited = (code: number | null, signal: string | null) =>
      reject(new Error(`The process that was at ${JSON.stringify(job)} ended: ${code ?? signal}.`));
    child.once('exit', exited);
    child.once('message', (answer: Answer) => {
      child.off('exit', exited);
      if ('error' in answer) reject(new Error(`${JSON.stringify(job)}: ${answer.error}`));
      else resolve(answer.result);
    });
    child.send({ job }, (error) => {
      if (error) reject(error);
    });
  });
}
