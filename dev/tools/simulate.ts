import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { coveragePage } from '../../test/simulation/coverage.ts';
import { coverageTable, landingTable } from '../../test/simulation/landing.ts';
import { type Summary, simulate, tableOf } from '../../test/simulation/simulate.ts';
import { commitLoaded } from './commit.ts';

/**
 * `npm run simulate -- --seed 1 --runs 1000` plays worlds full of faults.
 *
 * `--trace` prints the story of each, and plays one world unless `--runs` is given. `--table` shows which roles each kind of
 * fault affected. `--coverage FILE` writes the state of the order at each fault, and the place: as a page with more tables if
 * the file's name ends in `.md`.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string' },
    trace: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
    coverage: { type: 'string' },
  },
});
const seed = wholeNumber('--seed', values.seed);
const runs = wholeNumber('--runs', values.runs ?? (values.trace ? '1' : '200'));

const progressEvery = 250;
let shown = 0;

const begun = performance.now();
const summary = await simulate(seed, runs, {
  story: values.trace ? (line) => void process.stdout.write(`${line}\n`) : undefined,
  onPlayed: showProgress,
});
const durationMs = Math.round(performance.now() - begun);
const { simulatedMs, ...counts } = summary;
const landed = tableOf(
  summary,
  ({ kind }) => kind,
  ({ role }) => role,
);
const timesFaster = Math.round(simulatedMs / durationMs);
const printed = {
  seed,
  commit: commitLoaded(),
  durationMs,
  simulatedHours: Math.round(simulatedMs / 3_600_000),
  timesFaster,
  ...counts,
  landed,
};
if (values.coverage) writeFileSync(values.coverage, coverage(values.coverage));
process.stdout.write(values.table ? `${landingTable(summary)}\n` : `${JSON.stringify(printed)}\n`);
process.exitCode = summary.broken.length > 0 ? 1 : 0;

/** Prints each broken world at once, and from time to time how many were played. */
function showProgress({ runs: played, broken }: Summary): void {
  const { wrong, again } = broken[shown] ?? {};
  if (wrong) process.stderr.write(`${wrong.join('\n')}\n  again: ${again}\n`);
  shown = broken.length;
  if (played % progressEvery === 0 && played < runs) process.stderr.write(`${played} of ${runs} worlds played, ${shown} broken\n`);
}

function coverage(file: string): string {
  return file.endsWith('.md') ? coveragePage(summary, { seed, commit: commitLoaded(), file }) : coverageTable(summary);
}

function wholeNumber(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  process.stderr.write(`${name} takes a whole number, not "${text}".\n`);
  process.exit(2);
}
