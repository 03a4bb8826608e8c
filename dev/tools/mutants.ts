import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { root, run } from './run.ts';

/**
 * `npm run mutants [-- FILE ...]` changes the core in thousands of small ways, one at a time, and counts the changes that no
 * test notices. Without files it takes the whole core and writes the table in `docs/internals/mutation.md`.
 *
 * With `--simulation` it changes the code around the core, and counts the changes that the simulation misses. With
 * `--contracts` it changes the code that no world runs, and counts the changes that the contracts of the ports miss.
 *
 * The first run installs its dependencies beside it, so that other developers do not need them.
 */
const folder = `${root}dev/tools/mutation/`;
const report = `${root}.redress/mutation/report.json`;
const page = `${root}docs/internals/mutation.md`;

interface Report {
  files: { [file: string]: { mutants: readonly { status: string }[] } };
}

const timeOf = (file: string): number => (existsSync(file) ? statSync(file).mtimeMs : 0);

async function install(): Promise<boolean> {
  if (timeOf(`${folder}node_modules/.package-lock.json`) >= timeOf(`${folder}package-lock.json`)) return true;
  return (await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder })) === 0;
}

/** A row of the table. It leaves out mutants that do not compile, and ignored ones. */
function rowOf(name: string, mutants: readonly { status: string }[]): string {
  const count = (status: string) => mutants.filter((mutant) => mutant.status === status).length;
  const counts = ['Killed', 'Timeout', 'Survived', 'NoCoverage'].map(count);
  const [killed = 0, timeout = 0] = counts;
  const all = counts.reduce((sum, each) => sum + each, 0);
  const score = all === 0 ? '' : `${((100 * (killed + timeout)) / all).toFixed(1)} %`;
  return `| ${name} | ${[score, ...counts].join(' | ')} |`;
}

function table({ files }: Report): string {
  const rows = Object.entries(files)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, { mutants }]) => rowOf(`\`${file}\``, mutants));
  const all = Object.values(files).flatMap(({ mutants }) => mutants);
  const head = ['| file | score | killed | time-out | survived | no test |', '|---|---|---|---|---|---|'];
  return [...head, ...rows, rowOf('**all**', all)].map((line) => `${line}\n`).join('');
}

async function mutateCore(files: readonly string[]): Promise<number> {
  const chosen = files.length > 0 ? ['--mutate', files.join(',')] : [];
  const program = `${folder}node_modules/@stryker-mutator/core/bin/stryker.js`;
  const code = await run(process.execPath, [program, 'run', `${folder}stryker.config.mjs`, ...chosen]);
  if (code !== 0) return code;
  const rows = table(JSON.parse(readFileSync(report, 'utf8')) as Report);
  process.stdout.write(`\n${rows}`);
  if (files.length === 0)
    writeFileSync(
      page,
      readFileSync(page, 'utf8').replace(/^\| file .*\n(\|.*\n)*/m, () => rows),
    );
  return 0;
}

const args = process.argv.slice(2);
if (!(await install())) process.exitCode = 3;
else if (args.includes('--simulation')) await (await import('./mutation/simulation/main.ts')).mutateUnderSimulation(args);
else if (args.includes('--contracts')) await (await import('./mutation/contracts.ts')).mutateUnderContracts(args);
else process.exitCode = await mutateCore(args);
