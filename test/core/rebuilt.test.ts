import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Fact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import type { State, UndoEntry } from '#core/data/state';
import { type Remains, rebuiltState } from '#core/engine/rebuild';
import { playEach } from '../support/play.ts';
import { type Run, startRun, stepMs } from '../support/run.ts';
import { outline } from '../support/workflows.ts';

/**
 * `rebuilt.txt`: stories of orders, and their rebuilt undo lists if the state is lost after each fact. `=` shows the
 * change of the undo list if that fact was the last one; `?` shows the additions if later facts may be lost. The full
 * list stands at the end. Times are counted from the start. `UPDATE_TRANSCRIPTS=1` rewrites the file; review the
 * difference.
 */
const file = new URL('rebuilt.txt', import.meta.url);
const sections = readFileSync(file, 'utf8').trimEnd().split(/^# /m).slice(1);

interface Story {
  readonly about: string;
  readonly workflow: string;
  readonly order: Json;
  readonly events: string;
}

const storyOf = (section: string): Story => {
  const [about = '', workflow = '', order = '', events = ''] = section.split('\n\n');
  return { about, workflow, order: JSON.parse(order.slice('order '.length)) as Json, events: events.trimEnd() };
};

const start = Date.UTC(2026, 0, 1);
const seconds = (at: number | undefined): string => (at === undefined ? '' : ` until ${(at - start) / 1000}s`);
const entryLine = ({ path, generation, attempt, input, requestInput, until }: UndoEntry): string =>
  input === undefined
    ? `perhaps ${path} ${generation}.${attempt} requested with ${JSON.stringify(requestInput)}${seconds(until)}`
    : `${path} ${generation} undone with ${JSON.stringify(input)}`;

const stateLines = ({ undo = [], outputs, vars, undone }: State): readonly string[] => [
  ...undo.map(entryLine),
  ...(JSON.stringify(outputs) === '{}' ? [] : [`read: ${JSON.stringify(outputs)}`]),
  ...(vars ? [`vars: ${JSON.stringify(vars)}`] : []),
  ...(undone ? ['something was undone'] : []),
];
const linesOf = ({ state, problems }: Remains): readonly string[] => [...stateLines(state), ...problems.map((problem) => `! ${problem}`)];
const except = (lines: readonly string[], others: readonly string[]): readonly string[] => lines.filter((line) => !others.includes(line));
const marked = (mark: string, lines: readonly string[]): string => lines.map((line) => `  ${mark} ${line}\n`).join('');
const changed = (mark: string, before: readonly string[], now: readonly string[]): string =>
  `${marked(`${mark} -`, except(before, now))}${marked(`${mark} +`, except(now, before))}`;

const factLine = ({ type, at, ...fact }: Fact): string => {
  const { path, attemptId, result, fault } = fact as { path?: string; attemptId?: string; result?: string; fault?: { type: string } };
  return [`${(at - start) / 1000}s`, type, path, attemptId, result, fault?.type].filter((word) => word !== undefined).join(' ');
};

function played({ about, workflow, order, events }: Story): string {
  let run: Run = startRun(outline(workflow), { order });
  playEach(outline(workflow), events.replaceAll('\n', '\n\n'), { order }, (after) => {
    run = after;
  });
  const facts = run.turns
    .flatMap(({ at, facts }) => facts.map((fact) => ({ ...fact, at })))
    .map((fact, index): Fact => ({ ...fact, seq: index + 1 }));
  const blockedCount = (some: readonly Fact[]): number => some.filter(({ type }) => type === 'OrderBlocked').length;
  const subject = { orderId: run.orderId, order };
  const rebuilt = (some: readonly Fact[], isWhole: boolean): readonly string[] =>
    linesOf(
      rebuiltState(run.program, subject, some, { isWhole, resubmitted: blockedCount(some) < blockedCount(facts), stepMs, lastAt: run.now }),
    );
  let before: readonly (readonly [string, readonly string[]])[] = [];
  const lines = facts.map((fact, index) => {
    const here = facts.slice(0, index + 1);
    const known = rebuilt(here, true);
    const assumed = rebuilt(here, false);
    const now = [['=', known] as const, ['?', except(assumed, known)] as const, ['?-', except(known, assumed)] as const];
    const news = now.map(([mark, each], kind) => changed(mark, before[kind]?.[1] ?? [], each));
    before = now;
    return `${factLine(fact)}\n${news.join('')}`;
  });
  lines.push(
    `in the end\n${rebuilt(facts, false)
      .map((line) => `  ${line}\n`)
      .join('')}`,
  );
  return [`${about}`, workflow, `order ${JSON.stringify(order)}`, events, lines.join('').trimEnd()].join('\n\n');
}

describe('F-29: the state rebuilt from a journal that ends, or is damaged, after any of its facts', () => {
  const stories = sections.map(storyOf);
  for (const [index, story] of stories.entries())
    test(story.about, () => {
      if (!process.env['UPDATE_TRANSCRIPTS']) assert.equal(played(story), sections[index]?.trimEnd());
    });
  test('every story of the transcript is covered', () => {
    if (process.env['UPDATE_TRANSCRIPTS']) writeFileSync(file, `${stories.map((story) => `# ${played(story)}`).join('\n\n')}\n`);
    assert.ok(stories.length > 8);
  });
});
