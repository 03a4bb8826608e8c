import type { WorkflowDefinition } from '#core/definition/definition';
import type { Played } from './enumerate.ts';
import { crashText } from './points.ts';
import type { Run } from './world.ts';

/** The report tells the events for this many kinds of violation. For further kinds, it names only the calls of the crashes. */
const toldMax = 2;
const placesMax = 12;
/** Lines at either end of a long story. */
const linesMax = 60;

/** The violations of a crash test, by kind: the first crash with it, the other crashes, the events, and how to replay it. */
export class CrashTestError extends Error {
  override readonly name = 'CrashTestError';
  /** The failed runs, each with the crashes that `only` takes. */
  readonly failures: readonly { readonly only: readonly string[]; readonly broken: readonly string[] }[];

  constructor({ name, version }: WorkflowDefinition, without: Run, runs: number, failed: readonly Played[]) {
    const kinds = [...Map.groupBy(failed, ({ broken }) => broken[0] ?? '')];
    const head = `${failed.length} of ${runs} crashes of ${name}@${version} broke something. Without a crash the order ${without.ending.text}.`;
    super([head, ...kinds.map(([what, all], index) => reportOf(index + 1, what, all))].join('\n\n'));
    this.failures = failed.map(({ crashes, broken }) => ({ only: crashes.map(crashText), broken }));
  }
}

function reportOf(number: number, what: string, all: readonly Played[]): string {
  const [first, ...others] = all;
  if (!first) return '';
  const also = others.slice(0, placesMax).map((played) => `     ${placeOf(played)}`);
  const more = others.length > placesMax ? [`     and ${others.length - placesMax} more`] : [];
  return [
    `${number}. ${what}`,
    ...first.broken.slice(1).map((other) => `   and ${other}`),
    `   The process crashed ${placeOf(first)}`,
    ...(also.length > 0 ? ['   The same after a crash', ...also, ...more] : []),
    ...(number <= toldMax ? ['', ...shortened(first.run.story).map((line) => `   ${line}`), ''] : []),
    `   Replay: crashTest(…, { …, only: ${onlyOf(first)} })`,
  ].join('\n');
}

const words = { before: 'before', applied: 'after the effect, before the answer of', after: 'after the answer of' } as const;

const placeOf = ({ crashes, run }: Played): string =>
  crashes.map((crash, index) => `${words[crash.position]} ${run.crashed[index]?.where ?? 'no call'} (${crashText(crash)})`).join(', then ');

export const shortened = (story: readonly string[]): readonly string[] =>
  story.length <= 2 * linesMax
    ? story
    : [...story.slice(0, linesMax), `           … ${story.length - 2 * linesMax} lines …`, ...story.slice(-linesMax)];

const onlyOf = ({ crashes }: Played): string => {
  const texts = crashes.map((crash) => `'${crashText(crash)}'`);
  return texts.length === 1 ? `${texts[0]}` : `[${texts.join(', ')}]`;
};
