import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Json } from '#core/data/json';

/** Work that is cut into jobs, each done in some process of its own; jobs and results are plain JSON. */
export interface Spread<Job, Result> {
  /** Module that exports `work(job)`, which answers with a result or a promise of one: `new URL('./x.ts', import.meta.url)`. */
  readonly module: URL;
  /** Asked for the next one only when a process is free: where a generator ends early, nothing more is begun. */
  readonly jobs: Iterable<Job>;
  /** So many processes at once, each of them for many jobs. */
  readonly cores: number;
  /** Called in the order in which jobs are done, not in that in which they began. */
  readonly onResult: (result: Result, job: Job) => void;
  /** Another Node than this one, or other flags. */
  readonly execPath?: string;
  readonly execArgv?: readonly string[];
}

/** What a process answers to a job. */
export type Answer = { readonly result: Json } | { readonly error: string };

/** Resolves when all jobs are done. Rejects as soon as one fails, or its process dies; the others are then stopped. */
export async function spread<Job extends Json, Result>(work: Spread<Job, Result>): Promise<void> {
  const left = work.jobs[Symbol.iterator]();
  const processes = Array.from({ length: work.cores }, () => start(work));
  try {
    await Promise.all(processes.map((child) => serve(child, left, work.onResult)));
  } finally {
    for (const child of processes) child.kill();
  }
}

/** So many seeds from the first on, in pieces: a piece is a job. The last one may be shorter. */
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
    const died = (code: number | null, signal: string | null) =>
      reject(new Error(`The process that was at ${JSON.stringify(job)} ended: ${code ?? signal}.`));
    child.once('exit', died);
    child.once('message', (answer: Answer) => {
      child.off('exit', died);
      if ('error' in answer) reject(new Error(`${JSON.stringify(job)}: ${answer.error}`));
      else resolve(answer.result);
    });
    child.send({ job }, (error) => {
      if (error) reject(error);
    });
  });
}
