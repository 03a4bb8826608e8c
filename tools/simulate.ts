import { parseArgs } from 'node:util';
import { simulate } from '../test/simulation/simulate.ts';
import { commit } from './commit.ts';

/** `npm run simulate -- --seed 1 --runs 1000`: worlds in which everything goes wrong; `--trace` tells the story of each. */
const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, runs: { type: 'string', default: '200' }, trace: { type: 'boolean', default: false } },
});
const seed = wholeNumber('--seed', values.seed);
const runs = wholeNumber('--runs', values.runs);

const begun = performance.now();
const { simulatedMs, ...summary } = await simulate(seed, runs, values.trace ? (line) => void process.stdout.write(`${line}\n`) : undefined);
const durationMs = Math.round(performance.now() - begun);
const timesFaster = Math.round(simulatedMs / durationMs);
const told = { seed, commit: commit(), durationMs, simulatedHours: Math.round(simulatedMs / 3_600_000), timesFaster, ...summary };
for (const { wrong, again } of summary.broken) process.stderr.write(`${wrong.join('\n')}\n  again: ${again}\n`);
process.stdout.write(`${JSON.stringify(told)}\n`);
process.exitCode = summary.broken.length > 0 ? 1 : 0;

function wholeNumber(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  process.stderr.write(`${name} takes a whole number, not "${text}".\n`);
  process.exit(2);
}
