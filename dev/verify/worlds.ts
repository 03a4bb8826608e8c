import { addSummary, nothing, type Summary, simulate } from '../../test/simulation/simulate.ts';
import type { Run } from './figure.ts';
import { seedsFrom, spread } from './spread.ts';

/** A job of `spread`: plays one world for each seed. */
export const work = ({ first, runs }: { readonly first: number; readonly runs: number }): Promise<Summary> => simulate(first, runs);

/** The worlds that were played, and their duration. */
export interface Played {
  readonly summary: Summary;
  readonly durationMs: number;
}

const worlds = { full: 100_000, short: 1500 };
const pieceOf = 50;
const progressEvery = 2500;

let played: Promise<Played> | undefined;

/** Plays the worlds that several figures need, once, for the first figure that needs them. */
export const playedWorlds = (run: Run): Promise<Played> => (played ??= play(run, worlds[run.form]));

async function play({ seed, cores, progress }: Run, runs: number): Promise<Played> {
  const summary = nothing();
  const begun = performance.now();
  await spread<{ readonly first: number; readonly runs: number }, Summary>({
    module: new URL(import.meta.url),
    jobs: seedsFrom(seed, runs, pieceOf),
    cores,
    // Worlds throw thousands of errors for outages, and no code reads their stack traces. A large young generation of the heap collects
    // such short-lived objects cheaply.
    execArgv: [...process.execArgv, '--stack-trace-limit=0', '--max-semi-space-size=32'],
    onResult(part) {
      addSummary(summary, part);
      for (const { again, wrong } of part.broken) progress(`broken: ${wrong.join('; ')} (${again})`);
      const seconds = Math.round((performance.now() - begun) / 1000);
      if (summary.runs % progressEvery === 0)
        progress(`${summary.runs} of ${runs} worlds in ${seconds} s, ${summary.broken.length} broken`);
    },
  });
  return { summary, durationMs: Math.round(performance.now() - begun) };
}
