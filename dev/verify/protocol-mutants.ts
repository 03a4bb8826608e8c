import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { addSummary, nothing, type Summary } from '../../test/simulation/simulate.ts';
import { type Figure, measured, type Run } from './figure.ts';
import { classic, further } from './mutants/index.ts';
import { type Mutant, mutated } from './mutants/mutant.ts';
import type { Played } from './mutants/play.ts';
import { seedsFrom, spread } from './spread.ts';

/** The result of one mutant. */
interface Found {
  readonly name: string;
  /** The broken law, or the failed suite; absent if the mutant survived. */
  readonly by?: string;
  readonly worlds: number;
  /** Processor time of the whole process, including its start, because other processes may share the machine. */
  readonly cpuMs: number;
  /** Elapsed time. */
  readonly ms: number;
  /** The error of the process itself, if it failed: the mutant then counts neither as found nor as survived. */
  readonly failed?: string;
}

const root = new URL('../../', import.meta.url);
const seedMax = 1000;
/** Maximum of the median processor time that a mutant's worlds take. It is loose, because other work on the machine doubles it. */
const medianMaxMs = 6000;
const playMaxMs = 240_000;
const forms = {
  /** Maximum number of worlds for each mutant, and the mutants. */
  full: { worlds: 3000, mutants: [...classic, ...further] },
  short: { worlds: 600, mutants: classic },
};

/** G4: mistakes of one line, one at a time; a law or a suite must notice each. */
export const figure: Figure = {
  shows: 'mistakes of one line in the protocol, each of which breaks a law of the simulation, or fails a suite',
  async measure(run) {
    const { worlds, mutants } = forms[run.form];
    const unfitting = [...classic, ...further].flatMap(unfittingOf);
    const found: Found[] = [];
    const left = mutants.values();
    await Promise.all(
      Array.from({ length: run.cores }, async () => {
        for (const mutant of left) {
          found.push(await play(mutant, run.seed % seedMax, worlds));
          if (found.length % 10 === 0) run.progress(`${found.length} of ${mutants.length} mutants`);
        }
      }),
    );
    const played = Math.max(...found.map((each) => each.worlds));
    return summary(found, await controlOf(run, played), unfitting, played);
  },
};

function unfittingOf(mutant: Mutant): readonly string[] {
  try {
    mutated(mutant, readFileSync(new URL(mutant.file, root), 'utf8'));
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Runs the same worlds and suites with the unchanged code: a mutant can only break those that pass. */
async function controlOf({ cores, seed }: Run, worlds: number): Promise<readonly string[]> {
  const sum = nothing();
  await spread<{ readonly first: number; readonly runs: number }, Summary>({
    module: new URL('./worlds.ts', import.meta.url),
    jobs: seedsFrom(seed % seedMax, worlds, 25),
    cores,
    onResult: (each) => addSummary(sum, each),
  });
  const suites = new Set([...classic, ...further].flatMap(({ suites: its = [] }) => its));
  const failed = await Promise.all(
    [...suites].map(async (suite) => ((await passes(suite)) ? [] : [`${suite} fails on the unchanged code`])),
  );
  return [...sum.broken.map(({ wrong, again }) => `the unchanged code breaks a law: ${wrong[0]} (again: ${again})`), ...failed.flat()];
}

async function play({ name, file, suites = [] }: Mutant, first: number, worlds: number): Promise<Found> {
  const started = performance.now();
  const ms = () => Math.round(performance.now() - started);
  try {
    if (suites.length > 0) return { name, ...(await inSuites(suites, name)), worlds: 0, cpuMs: 0, ms: ms() };
    const { wrong, loaded, ...played } = JSON.parse(await node('play.ts', [name, String(first), String(worlds)])) as Played;
    const by = wrong === undefined ? {} : { by: wrong.slice(0, wrong.indexOf(':')) };
    return { name, ...by, ...played, ms: ms(), ...(loaded ? {} : { failed: `the simulation never loads ${file}` }) };
  } catch (error) {
    return { name, worlds: 0, cpuMs: 0, ms: ms(), failed: (error as Error).message };
  }
}

async function inSuites(suites: readonly string[], name: string): Promise<{ readonly by?: string }> {
  for (const suite of suites) if (!(await passes(suite, name))) return { by: suite };
  return {};
}

const passes = (suite: string, mutant = ''): Promise<boolean> =>
  node('suite.ts', [suite, mutant]).then(
    () => true,
    () => false,
  );

async function node(file: string, args: readonly string[]): Promise<string> {
  const path = fileURLToPath(new URL(`./mutants/${file}`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, path, ...args], { timeout: playMaxMs });
  return stdout;
}

function summary(found: readonly Found[], control: readonly string[], unfitting: readonly string[], controlWorlds: number) {
  const names = new Set(classic.map(({ name }) => name));
  const noticed = found.filter(({ by }) => by !== undefined);
  const bySimulation = noticed.filter(({ worlds }) => worlds > 0);
  const survived = found.filter(({ by, failed }) => by === undefined && failed === undefined);
  const classicOf = (list: readonly Found[]) => list.filter(({ name }) => names.has(name)).length;
  const medianMs = median(bySimulation.map(({ cpuMs }) => cpuMs));
  return measured(
    [
      ...unfitting,
      ...control,
      ...found.flatMap(({ name, failed }) => (failed === undefined ? [] : [`${name}: ${failed}`])),
      ...survived.map(({ name, worlds }) => `no law notices this mutant in ${worlds} worlds: ${name}`),
      ...(medianMs > medianMaxMs ? [`the worlds of the median mutant take ${medianMs} ms of processor time, allowed ${medianMaxMs}`] : []),
    ],
    {
      classic: classicOf(found),
      classicFound: classicOf(noticed),
      classicBySimulation: classicOf(bySimulation),
      further: found.length - classicOf(found),
      furtherFound: noticed.length - classicOf(noticed),
      medianMs,
      medianPassedMs: median(bySimulation.map(({ ms }) => ms)),
      medianWorlds: median(bySimulation.map(({ worlds }) => worlds)),
      controlWorlds,
      found: found.toSorted((one, other) => one.worlds - other.worlds),
    },
  );
}

const median = (numbers: readonly number[]): number => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
