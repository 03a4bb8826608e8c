import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { check } from '#core/checks/check';
import { engineFaults } from '#core/data/fault';
import type { Json } from '#core/data/json';
import type { WorkflowDefinition } from '#core/definition/definition';
import { transcript } from '../support/play.ts';

/** Each file has a workflow, the body of an order, and its story. `UPDATE_TRANSCRIPTS=1` rewrites the story. */
const folder = new URL('../../examples/activities/', import.meta.url);

interface Example {
  readonly story: string;
  readonly body: Json;
  readonly [name: string]: unknown;
}

const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && file !== 'agents.ts');
const textOf = (file: string): string => readFileSync(new URL(file, folder), 'utf8');
const doc = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
/** A workflow; the ones that it calls have other names. */
const isExample = (value: unknown): value is WorkflowDefinition =>
  typeof value === 'object' && value !== null && 'exprVersion' in value && 'name' in value && `${value.name}`.startsWith('example-');
const trimmed = (story: string): string =>
  story
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();

async function plays(file: string): Promise<void> {
  const { story, body, ...others } = (await import(new URL(file, folder).href)) as Example;
  const [definition, ...more] = Object.values(others).filter(isExample);
  assert.ok(definition && more.length === 0, `${file} has one workflow`);
  const problems = check(definition).filter(({ severity }) => severity === 'error');
  assert.deepEqual(problems, []);

  const played = transcript(definition, story, { order: body });
  if (!process.env['UPDATE_TRANSCRIPTS']) return assert.equal(played, trimmed(story));
  const lines = played.split('\n').map((line) => (line === '' ? '' : `  ${line}`));
  writeFileSync(
    new URL(file, folder),
    textOf(file).replace(story, () => `\n${lines.join('\n')}\n`),
  );
}

describe('the examples of activities', () => {
  test('an operator answers no to a question, and the order is compensated', () => plays('ask-operator.ts'));
  test('F-84: a loop adds up a variable, entry by entry', () => plays('assign.ts'));
  test('F-88: a choice runs the first branch whose condition holds', () => plays('choice.ts'));
  test('F-88: ifTrue runs one branch or the other', () => plays('if-true.ts'));
  test('a workflow calls another one, and undoes it', () => plays('call.ts'));
  test('compute runs a function of the app', () => plays('compute.ts'));
  test('F-99, F-100, F-103: completed steps are undone, and an undo is repeated until it succeeds', () => plays('compensate.ts'));
  test('F-89: a delay waits for a day', () => plays('delay.ts'));
  test("F-169: an app's own activity cleans up before a handler runs", () => plays('ensure.ts'));
  test('F-84, F-85: a forEach stops at the first entry that is good enough', () => plays('for-each.ts'));
  test('F-84: a loop collects the results of its turns in the order of the entries', () => plays('collect.ts'));
  test('F-90: a while, a sequence, a scope, a choice and a delay do the work of a retry', () => plays('hand-made-retry.ts'));
  test('F-72, F-86: a branch faults; the other one is canceled, and its effect is undone', () => plays('parallel.ts'));
  test('F-68, F-76: a workflow raises a fault itself', () => plays('raise.ts'));
  test('F-37, F-96: a declared temporary fault is retried, then handled', () => plays('transient.ts'));
  test('F-93, F-96: a step runs again after one fault, and not after another', () => plays('retry.ts'));
  test('F-66, F-70: a scope around one step handles its fault, and the order continues', () => plays('scope.ts'));
  test('F-83: the steps of a sequence run one after the other', () => plays('sequence.ts'));
  test('F-44, F-60, F-80: a step is requested again, resubmitted and canceled', () => plays('step.ts'));
  test('F-37, S11: a step past its time limit is confirmed, and undone', () => plays('within.ts'));
  test('F-171, F-172: a handler raises its fault again, and an outer handler handles it', () => plays('any-fault.ts'));
  test("F-102, F-93, F-96: each failed run is undone before the next one begins, up to the retry's count", () =>
    plays('undone-then-again.ts'));
  test('F-102, F-172: a handler of each run undoes it and raises the fault again, and the retry around it runs again', () =>
    plays('undone-by-its-handler.ts'));
  test('terminate ends an order at once', () => plays('terminate.ts'));
  test('a composite is undone as a whole', () => plays('undo-as-a-whole.ts'));
  test('an order waits for a signal, and continues with its payload', () => plays('wait-for.ts'));
  test('F-87: a question is asked until the answer is yes', () => plays('repeat-while.ts'));

  test('every example file is played here', () => {
    const here = readFileSync(new URL(import.meta.url), 'utf8');
    assert.deepEqual(
      files.filter((file) => !here.includes(`plays('${file}')`)),
      [],
    );
  });

  test('every activity that the package exports is explained in docs, with the code and the first comment of its example file', () => {
    const squeezed = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
    const elsewhere = [
      '../../test/examples/travel.test.ts',
      '../orders/agents.ts',
      '../orders/cases.test.ts',
      '../orders/workflow.ts',
      '../orders/workflow.test.ts',
      '../../test/testing/crash-test/crash-test.test.ts',
      '../../test/testing/replay/replay.test.ts',
      '../../test/testing/test-system.test.ts',
    ];
    const sources = [...files, 'own/ensure.ts', ...elsewhere].map((file) => squeezed(textOf(file)));
    const pages = [
      'reference/activities.md',
      'guides/writing-workflows.md',
      'guides/custom-activities.md',
      'guides/app-services.md',
      'guides/testing.md',
    ];
    const text = pages.map(doc).join('\n');
    const blocks = [...text.matchAll(/```(?:ts|text)\n([\s\S]*?)```/g)].map(([, code = '']) => squeezed(code));
    assert.deepEqual(
      blocks.filter((block) => !sources.some((source) => source.includes(block))),
      [],
    );
    assert.deepEqual(
      files.filter((file) => !text.includes(`examples/activities/${file}`)),
      [],
    );
  });

  test('docs/reference/faults.md lists exactly the faults of the engine', () => {
    const listed = [...doc('reference/faults.md').matchAll(/^\| `(Engine\/\w+)` \|/gm)].map(([, type]) => `${type}`);
    assert.deepEqual(listed.sort(), Object.values(engineFaults).sort());
  });
});
