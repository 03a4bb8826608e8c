import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { isRemote } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { isAt } from '#core/engine/undo-pages';
import { type PlannedUndo, scopeNamed, undoPlan } from '#core/views/undo-plan';
import { playEach } from '../support/play.ts';
import type { Run } from '../support/run.ts';
import { outline } from '../support/workflows.ts';

/**
 * `undo-plans.txt`: stories of orders, and the undo plan of some scopes after each event that changed it.
 * `UPDATE_TRANSCRIPTS=1` rewrites the file; review the difference.
 */
const file = new URL('undo-plans.txt', import.meta.url);
const sections = readFileSync(file, 'utf8').trimEnd().split(/^# /m).slice(1);

interface Story {
  readonly about: string;
  readonly workflow: string;
  /** Names or paths. */
  readonly scopes: readonly string[];
  readonly events: readonly string[];
}

const storyOf = (section: string): Story => {
  const [about = '', workflow = '', scopes = '', ...blocks] = section.trimEnd().split('\n\n');
  return {
    about,
    workflow,
    scopes: scopes.slice('of '.length).split(', '),
    events: blocks.map((block) => block.split('\n')[0] ?? ''),
  };
};

const undoText = ({ path, agent, operation, input, outcomeUnknown, impossible }: PlannedUndo): string =>
  [
    `${path}: ${operation} by ${agent} with ${JSON.stringify(input)}`,
    ...(outcomeUnknown ? ['if it was done'] : []),
    ...(impossible === undefined ? [] : [`impossible: ${impossible}`]),
  ].join(', ');

/** Steps that completed and were not undone, alone or with their composite, as the journal shows. */
function doneIn({ turns, program }: Run): readonly string[] {
  let done: readonly string[] = [];
  for (const fact of turns.flatMap(({ facts }) => facts)) {
    if (fact.type !== 'ActivityClosed') continue;
    const undone = fact.result === 'Compensated' ? fact.path.slice(0, -'/undo'.length) : undefined;
    if (undone !== undefined) done = done.filter((path) => !isAt(path, undone));
    else if (fact.result === 'Succeeded' && isRemote(nodeAt(program, fact.path))) done = [...done, fact.path];
  }
  return done;
}

function planText(run: Run, name: string): string {
  const scope = scopeNamed(run.program, name);
  if (scope === undefined) return `  of ${name}: no such composite\n`;
  const plan = undoPlan(run.program, { orderId: run.orderId, order: {} }, run.state, scope, doneIn(run));
  const stay = plan.withoutUndo.map(({ path, agent, operation }) => `${path}: ${operation} by ${agent} stays`);
  return [`  of ${plan.scope}`, ...[...plan.steps.map(undoText), ...stay].map((line) => `    ${line}`)].join('\n').concat('\n');
}

function played({ about, workflow, scopes, events }: Story): string {
  const blocks: string[] = [];
  let before: readonly string[] = [];
  playEach(outline(workflow), events.join('\n\n'), {}, (run) => {
    const now = scopes.map((scope) => planText(run, scope));
    blocks.push(`${events[blocks.length]}\n${now.filter((text, index) => text !== before[index]).join('')}`.trimEnd());
    before = now;
  });
  return [about, workflow, `of ${scopes.join(', ')}`, ...blocks].join('\n\n');
}

describe('the undo plan after each event of an order', () => {
  const stories = sections.map(storyOf);
  for (const [index, story] of stories.entries())
    test(story.about, () => {
      if (!process.env['UPDATE_TRANSCRIPTS']) assert.equal(played(story), sections[index]?.trimEnd());
    });
  test('every story of the transcript is covered', () => {
    if (process.env['UPDATE_TRANSCRIPTS']) writeFileSync(file, `${stories.map((story) => `# ${played(story)}`).join('\n\n')}\n`);
    assert.ok(stories.length > 5);
  });
});
