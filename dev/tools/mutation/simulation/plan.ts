import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { chanceOf } from '../../../../test/simulation/random.ts';
import { root } from '../../run.ts';
import { type Change, instrument } from './instrument.mjs';

/** The folder for all files of a run. The repository keeps none of them. */
export const place = `${root}.redress/mutation/simulation/`;
export const sourcesFile = `${place}sources.json`;

/** Roles, the functions that run them, and the embedded implementations of the ports. */
const folders = ['lib/roles/**/*.ts', 'lib/adapters/sqlite/*.ts', 'functions/!(api).ts'];
const mutatedFiles: readonly string[] = globSync(folders, { cwd: root }).sort();

/** A change with a key that stays the same as long as its file does. */
export interface Mutant extends Change {
  readonly key: string;
  /** The original code, on one line. */
  readonly original: string;
  /** The whole line on which it begins, without its indentation. */
  readonly source: string;
}

export interface Plan {
  readonly mutants: readonly Mutant[];
  /** A hash of the code that is mutated and of the code that judges the mutants. Results of another hash do not count. */
  readonly code: string;
}

/** Builds every change into the sources, where one can be active at a time; writes them for the workers, and returns the plan. */
export async function makePlan(): Promise<Plan> {
  const files = mutatedFiles.map((name) => ({ name, content: readFileSync(`${root}${name}`, 'utf8') }));
  const { sources, mutants } = await instrument(files);
  mkdirSync(place, { recursive: true });
  writeFileSync(sourcesFile, JSON.stringify(sources));
  const contents = new Map(files.map(({ name, content }) => [name, content]));
  return { mutants: mutants.map((mutant) => described(mutant, contents.get(mutant.file) ?? '')), code: hashOfCode() };
}

function described(change: Change, content: string): Mutant {
  const lines = content.split('\n');
  const { file, from, to, mutator, replacement } = change;
  const part = lines.slice(from.line, to.line + 1);
  const last = part.length - 1;
  const text = part.map((line, at) => line.slice(at === 0 ? from.column : 0, at === last ? to.column : undefined)).join('\n');
  const key = hash([content, JSON.stringify([from, to, mutator, replacement])]).slice(0, 16);
  return { ...change, key: `${file}:${key}`, original: oneLine(text), source: (lines[from.line] ?? '').trim() };
}

export const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

function hashOfCode(): string {
  const judges = ['worker', 'trial', 'clean'].map((name) => `dev/tools/mutation/simulation/${name}.ts`);
  const files = globSync(['lib/**/*.ts', 'functions/*.ts', 'test/simulation/**/*.ts', ...judges], { cwd: root }).sort();
  return hash(files.flatMap((file) => [file, readFileSync(`${root}${file}`, 'utf8')])).slice(0, 12);
}

const hash = (parts: readonly string[]): string =>
  parts.reduce((sum, part) => sum.update(part).update('\0'), createHash('sha256')).digest('hex');

/** Returns the mutants in a random order, so that an interrupted run has tried a sample of them all. The seed determines the order. */
export function shuffled(mutants: readonly Mutant[], seed: number): readonly Mutant[] {
  const random = chanceOf(seed);
  const lots = mutants.map((mutant) => ({ mutant, lot: random.next() }));
  return lots.toSorted((one, other) => one.lot - other.lot).map(({ mutant }) => mutant);
}
