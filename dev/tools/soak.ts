import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { root } from './run.ts';
import { subjects } from './soak/measurements.ts';
import { Report } from './soak/report.ts';

/**
 * `npm run soak -- --hours 2 [--report FILE] [--seed N] [--only worlds]` runs everything that has seeds, with new seeds, in
 * turn, for hours. It writes each finding at once, and continues after a broken law. An interrupt ends it after its summary.
 */
const { values } = parseArgs({
  options: { hours: { type: 'string', default: '1' }, report: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } },
});
const hours = Number(values.hours);
if (!(hours > 0)) stop(`--hours takes a number, not "${values.hours}".`);
if (values.seed !== undefined && !/^\d{1,9}$/.test(values.seed)) stop(`--seed takes a whole number, not "${values.seed}".`);
const names = values.only === undefined ? Object.keys(subjects) : [values.only];
const soaked = names.map((name) => ({
  name,
  thing: (subjects[name] ?? stop(`There is nothing to soak with the name ${name}. Known: ${Object.keys(subjects).join(', ')}.`))(),
}));

const first = values.seed === undefined ? randomInt(1_000_000_000) : Number(values.seed);
const report = new Report(values.report ?? `${root}docs/internals/soak/${new Date().toISOString().slice(0, 10)}.md`, {
  hours,
  seed: first,
  names,
});
let why = '';
const finish = (reason: string) => {
  why ||= reason;
  for (const { thing } of soaked) thing.stop();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => finish(signal));
const timer = setTimeout(() => finish('time is over'), hours * 3_600_000);

/** The number of reports in a long run. A run of less than half an hour has fewer. */
const reports = 60;
const reportEveryMinutes = Math.max(0.5, (hours * 60) / reports);
let seed = first;
for (let reportedAt = 0; why === ''; ) {
  for (const { name, thing } of soaked) {
    if (why !== '') break;
    report.add(name, await thing.round(seed));
    seed += thing.seeds;
  }
  if (report.minutes - reportedAt < reportEveryMinutes) continue;
  report.writeProgress();
  reportedAt = report.minutes;
}
clearTimeout(timer);
if (report.growth().isLeak)
  report.writeBroken('memory', { wrong: report.growth().words, again: `npm run soak -- --hours ${hours} --seed ${first}` });
report.end(why);
process.exitCode = report.broken > 0 ? 1 : 0;

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
