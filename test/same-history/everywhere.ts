import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { difference } from './compare.ts';
import type { PlaceName } from './places/index.ts';
import { scenarios } from './scenarios/index.ts';
import type { Done, Job } from './worker.ts';

/** The result of playing scenarios at several places. */
export interface Compared {
  /** Scenarios that were played at more than one place and left the same history. */
  readonly equal: number;
  readonly played: { readonly [place: string]: number };
  readonly lines: number;
  /** Each scenario with a difference, or without its intended effect: both histories side by side. */
  readonly wrong: readonly string[];
}

/** Plays every scenario at each place that `at` selects, in the given number of processes, and compares. */
export async function compareEverywhere(
  at: (place: PlaceName, index: number) => boolean,
  { cores, progress = () => {} }: { readonly cores: number; readonly progress?: (line: string) => void },
): Promise<Compared> {
  const names: readonly PlaceName[] = ['dynamodb-local', 'aws', 'embedded', 'simulation'];
  const jobs = names.flatMap((place) => scenarios.flatMap((_, index): readonly Job[] => (at(place, index) ? [{ index, place }] : [])));
  const done: Done[] = [];
  const work = async (worker: ChildProcess): Promise<void> => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      done.push(await resultOf(worker, job));
      if (done.length % 25 === 0) progress(`${done.length} played, ${jobs.length} to go`);
    }
    worker.disconnect();
    await once(worker, 'exit');
  };
  await Promise.all(Array.from({ length: cores }, () => work(startWorker())));
  return compared(done);
}

const startWorker = (): ChildProcess =>
  fork(new URL('./worker.ts', import.meta.url), { execArgv: ['-C', 'redress-source', '--disable-warning=ExperimentalWarning'] });

async function resultOf(worker: ChildProcess, job: Job): Promise<Done> {
  const ended = new AbortController();
  const exit = once(worker, 'exit', { signal: ended.signal }).then(
    ([code]): Done => ({ ...job, trouble: `Its process ended with ${code}.` }),
    (): Done => ({ ...job, trouble: 'It was given up.' }),
  );
  const message = once(worker, 'message').then(([done]) => done as Done);
  worker.send(job);
  const result = await Promise.race([message, exit]);
  ended.abort();
  return result;
}

function compared(done: readonly Done[]): Compared {
  const wrong: string[] = [];
  let equal = 0;
  for (const [index, { title, shows }] of scenarios.entries()) {
    const its = done.filter((each) => each.index === index);
    const histories = its.flatMap((each) => ('lines' in each ? [[each.place, each.lines] as const] : []));
    const [first, ...others] = histories;
    const troubles = its.flatMap((each) => ('trouble' in each ? [`${each.place}: ${each.trouble}`] : []));
    const missing = first ? shows.filter((words) => !first[1].some((line) => line.includes(words))) : [];
    const differences = others.flatMap((other) => (first ? (difference(first, other) ?? []) : []));
    const all = [...troubles, ...missing.map((words) => `It should show ${words}.`), ...differences];
    if (all.length > 0) wrong.push(`${title}\n${all.join('\n')}`);
    else if (others.length > 0) equal += 1;
  }
  const played = Object.fromEntries([...Map.groupBy(done, ({ place }) => place)].map(([place, its]) => [place, its.length]));
  return { equal, played, lines: done.reduce((sum, each) => sum + ('lines' in each ? each.lines.length : 0), 0), wrong };
}
