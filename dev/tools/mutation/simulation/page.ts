import { readFileSync, writeFileSync } from 'node:fs';
import { root } from '../../run.ts';
import { type Mutant, oneLine } from './plan.ts';
import type { Result } from './trial.ts';

export interface Tried {
  readonly mutant: Mutant;
  readonly result: Result;
}

/** The reason why survivors of one line are harmless, written by hand. Without `change` it covers all changes of that line. */
interface Reason {
  readonly file: string;
  readonly line: string;
  readonly change?: string;
  readonly why: string;
  /** Set if the survivor is not harmless, because a law, a fault or a workflow is missing. */
  readonly gap?: true;
}

const reasons = JSON.parse(readFileSync(new URL('reasons.json', import.meta.url), 'utf8')) as readonly Reason[];
const page = `${root}docs/internals/mutation.md`;

const reasonOf = ({ file, source, replacement }: Mutant): Reason | undefined => {
  const about = reasons.filter((each) => each.file === file && each.line === source);
  return about.find(({ change }) => change === oneLine(replacement)) ?? about.find(({ change }) => change === undefined);
};

const count = (tried: readonly Tried[], status: Result['status']): number => tried.filter(({ result }) => result.status === status).length;

/** Counts the caught mutants among those that some world reaches. */
export function score(tried: readonly Tried[]): { readonly caught: number; readonly of: number } {
  const caught = count(tried, 'caught') + count(tried, 'lost');
  return { caught, of: caught + count(tried, 'survived') };
}

/** Counts like `score`, but without the survivors that are known to be harmless. */
export function scoreOfHarmful(tried: readonly Tried[]): { readonly caught: number; readonly of: number } {
  const { caught, of } = score(tried);
  const harmless = tried.filter(
    ({ mutant, result }) => result.status === 'survived' && reasonOf(mutant)?.gap === undefined && reasonOf(mutant),
  );
  return { caught, of: of - harmless.length };
}

/** Returns Wilson's interval of 95 %: the range that a sample gives for all mutants. */
export function interval({ caught, of }: { readonly caught: number; readonly of: number }): readonly [number, number] {
  if (of === 0) return [0, 1];
  const z = 1.96;
  const share = caught / of;
  const middle = (share + z ** 2 / (2 * of)) / (1 + z ** 2 / of);
  const half = (z / (1 + z ** 2 / of)) * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  return [middle - half, middle + half];
}

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function row(name: string, tried: readonly Tried[]): string {
  const { caught, of } = score(tried);
  const survived = tried.filter(({ result }) => result.status === 'survived');
  const known = survived.flatMap(({ mutant }) => reasonOf(mutant) ?? []);
  const harmless = known.filter(({ gap }) => !gap).length;
  const numbers = [of === 0 ? '' : percent(caught / of), caught, survived.length, harmless, count(tried, 'not reached')];
  return `| ${name} | ${numbers.join(' | ')} |`;
}

export function table(tried: readonly Tried[]): string {
  const files = Map.groupBy(tried, ({ mutant }) => mutant.file);
  return [
    '| file | score | caught | survived | harmless survivors | in no world |',
    '|---|---|---|---|---|---|',
    ...[...files].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([file, each]) => row(`\`${file}\``, each)),
    row('**all**', tried),
  ].join('\n');
}

/** Lists what caught how many mutants. */
export function catchers(tried: readonly Tried[]): string {
  const byLaw = Map.groupBy(
    tried.filter(({ result }) => result.status === 'caught' || result.status === 'lost'),
    ({ result }) => (result.status === 'lost' ? 'never came back' : (result.wrong ?? '').split(':')[0]),
  );
  const sorted = [...byLaw].toSorted(([, one], [, other]) => other.length - one.length);
  return sorted.map(([law, each]) => `${law} ${each.length}`).join(', ');
}

const cell = (text: string): string => {
  const short = oneLine(text);
  return `\`${(short.length > 90 ? `${short.slice(0, 87)}...` : short).replaceAll('|', '\\|').replaceAll('`', "'") || ' '}\``;
};

/** Lists each survivor with its line, and with the reason why it is harmless, if that is known. */
export function survivors(tried: readonly Tried[]): string {
  const lines = tried
    .filter(({ result }) => result.status === 'survived')
    .toSorted(({ mutant: one }, { mutant: other }) => one.file.localeCompare(other.file) || one.line - other.line)
    .map(({ mutant, result }) => {
      const reason = reasonOf(mutant);
      const why = reason ? `${reason.gap ? '**a gap**: ' : ''}${reason.why}` : 'not reviewed';
      const seen = `${result.changed}/${result.worlds}`;
      return `| \`${mutant.file}\` ${mutant.line} | ${cell(mutant.original)} | ${cell(mutant.replacement)} | ${seen} | ${why} |`;
    });
  return ['| where | code | change | visible in worlds | reason why it is harmless, or a gap |', '|---|---|---|---|---|', ...lines].join(
    '\n',
  );
}

/** Writes the result of a whole run between its two marks in `docs/internals/mutation.md`. */
export function writePage(text: string): void {
  const [begin, end] = ['<!-- simulation: begin -->', '<!-- simulation: end -->'];
  const whole = readFileSync(page, 'utf8');
  const from = whole.indexOf(begin);
  const to = whole.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${page} lacks the marks between which the result belongs. Add ${begin} and ${end}.`);
  writeFileSync(page, `${whole.slice(0, from + begin.length)}\n\n${text}\n\n${whole.slice(to)}`);
}
