import { appendFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { commit } from '../tools/commit.ts';
import { hundredths } from './live/arithmetic.ts';
import { withCleanup } from './live/cleanup.ts';
import { neighbors } from './live/neighbors.ts';
import { noisy, outage, type PartResult, type Plan, poison } from './live/overloads.ts';
import { type RunningSystem, startSystem } from './live/traffic.ts';

/**
 * `npm run overload:live [-- poison outage noisy] [--scale 0.1] [--seed N] [--report FILE]` runs the real system in real time
 * under the loads that `npm run verify` plays in virtual time. It prints a line of JSON for each part: `poison` (G13: messages that
 * cannot be processed), `outage` (G18: a service is unavailable), `noisy` (one client sends far too much), and the five attackers of
 * `neighbors`. The first three take about eight minutes, the attackers twenty. Without names it runs all parts.
 *
 * Times depend on the machine and are only reported. The exit code is 1 if an order did not complete, a malformed message did not become
 * a dead letter, or a part threw; it is 2 for invalid arguments.
 */
const parts: { readonly [part: string]: (system: RunningSystem, plan: Plan) => Promise<PartResult> } = {
  poison,
  outage,
  noisy,
  ...neighbors,
};
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { scale: { type: 'string', default: '1' }, seed: { type: 'string', default: '1' }, report: { type: 'string' } },
});
const [scale, seed] = [Number(values.scale), Number(values.seed)];
const chosen = positionals.length > 0 ? positionals : Object.keys(parts);
const unknown = chosen.filter((part) => !parts[part]);
if (unknown.length > 0) stop(`There is no part ${unknown.join(', ')}. Known: ${Object.keys(parts).join(', ')}.`);
if (!(scale >= 0.01 && scale <= 1)) stop(`--scale takes a number from 0.01 to 1, not "${values.scale}".`);
if (!Number.isSafeInteger(seed)) stop(`--seed takes a whole number, not "${values.seed}".`);
if (values.report) writeFileSync(values.report, '');
// Files may change during the run, but the running code does not.
const measuredCommit = commit();

for (const part of chosen) {
  const [at, before, started] = [new Date().toISOString(), load(), performance.now()];
  const result = await measure(part);
  const machine = { cores: availableParallelism(), loadBefore: before, loadAfter: load() };
  const durationMs = Math.round(performance.now() - started);
  const line = `${JSON.stringify({ live: part, at, scale, seed, commit: measuredCommit, durationMs, machine, ...result })}\n`;
  process.stdout.write(line);
  if (values.report) appendFileSync(values.report, line);
  if (result.unfinished.length > 0) process.exitCode = 1;
}

/** Measures one part. If it throws, the part counts as failed, and the others are still measured. */
async function measure(part: string): Promise<PartResult> {
  const progress = (line: string): void => void process.stderr.write(`${part}: ${line}\n`);
  try {
    return await withCleanup(async (cleanup) => {
      const run = parts[part];
      if (!run) throw new Error(`There is no part ${part}.`);
      return run(await startSystem(cleanup), { scale, seed, progress, startAnother: () => startSystem(cleanup) });
    });
  } catch (error) {
    return { unfinished: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  }
}

/** Returns the load average: processes that needed a core, over one, five and fifteen minutes. */
function load(): readonly number[] {
  return loadavg().map(hundredths);
}

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
