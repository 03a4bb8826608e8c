import { appendFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { commit } from '../tools/commit.ts';
import type { Run } from './figure.ts';
import { figures } from './figures.ts';

/**
 * `npm run verify [-- G1 G7] [--short] [--seed N] [--report FILE]` tries to break the system, and prints a line of JSON for
 * each goal. The exit code is 1 if a goal is not reached.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false }, seed: { type: 'string' }, report: { type: 'string' } },
});
const chosen = positionals.length > 0 ? positionals : Object.keys(figures);
const unknown = chosen.filter((goal) => !figures[goal]);
if (unknown.length > 0) stop(`There is no goal ${unknown.join(', ')}. Known: ${Object.keys(figures).join(', ')}.`);
if (values.seed !== undefined && !/^\d{1,9}$/.test(values.seed)) stop(`--seed takes a whole number, not "${values.seed}".`);

/** The short form uses the same seed each time, because every change must pass it; published figures use a new one. */
const seed = values.seed !== undefined ? Number(values.seed) : values.short ? 1 : Math.floor(Date.now() / 1000) % 1_000_000_000;
const form = values.short ? 'short' : 'full';
if (values.report) writeFileSync(values.report, '');

for (const goal of chosen) {
  const started = performance.now();
  const run: Run = { form, seed, cores: availableParallelism(), progress: (line) => void process.stderr.write(`${goal} ${line}\n`) };
  const { shows, ...result } = await measure(goal, run);
  const durationMs = Math.round(performance.now() - started);
  const line = `${JSON.stringify({ goal, shows, form, seed, commit: commit(), durationMs, ...result })}\n`;
  process.stdout.write(line);
  if (values.report) appendFileSync(values.report, line);
  if (!result.reached) process.exitCode = 1;
}

/** A figure that cannot be measured is not reached. The others are still measured. */
async function measure(goal: string, run: Run) {
  const load = figures[goal];
  if (!load) throw new Error(`There is no goal ${goal}.`);
  const { figure } = await load();
  try {
    return { shows: figure.shows, ...(await figure.measure(run)) };
  } catch (error) {
    return { shows: figure.shows, reached: false, shortfalls: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  }
}

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
