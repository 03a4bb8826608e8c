import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fact } from '#core/data/journal';
import type { State } from '#core/data/state';
import type { WorkflowDefinition } from '#core/definition/definition';
import { programOf } from '#core/definition/program';
import type { JournalEntry } from '#roles/scheduler/instance';
import { stepsOf, wholeJournal } from '#roles/scheduler/step-report';

const step = (name: string) => ({ activity: 'step', name, agent: 'stock', operation: name, input: {} }) as const;
const definition: WorkflowDefinition = {
  name: 'w',
  version: 1,
  exprVersion: 1,
  order: {},
  toOperator: [],
  root: { activity: 'sequence', name: 'order', children: [step('pick'), step('pack')] },
};
const program = programOf(definition);

const journalOf = (...facts: readonly object[]): JournalEntry[] =>
  facts.map((fact, index) => ({ seq: index + 1, at: (index + 1) * 100, ...fact }) as Fact<JournalEntry>);
const requested = (path: string, attempt: number) => ({
  type: 'StepRequested',
  path,
  attempt,
  requestId: `r${attempt}`,
  completeBy: 5000 + attempt,
});
const closed = (path: string, result = 'Succeeded', output?: unknown) => ({ type: 'ActivityClosed', path, result, output });
const alive = (path: string, status: string): State =>
  ({ phase: 'running', activities: { [path]: { status, local: {} } }, outputs: {}, stepMs: 0 }) as unknown as State;

/** Journal, current state, and the expected report of the first step: status, result, attempts, completeBy, startedAt, closedAt. */
const courses: readonly [string, JournalEntry[], State | undefined, unknown[]][] = [
  ['nothing has happened', [], undefined, ['Initialized', null, 0, null, null, null]],
  ['requested', journalOf(requested('order/pick', 1)), alive('order/pick', 'Executing'), ['Executing', null, 1, 5001, 100, null]],
  [
    'requested three times, then extended',
    journalOf(requested('order/pick', 1), requested('order/pick', 2), requested('order/pick', 3), {
      type: 'StepExtended',
      path: 'order/pick',
      completeBy: 9000,
    }),
    undefined,
    ['Executing', null, 3, 9000, 100, null],
  ],
  [
    'closed',
    journalOf(requested('order/pick', 1), closed('order/pick', 'Succeeded', 7)),
    undefined,
    ['Closed', 'Succeeded', 1, 5001, 100, 200],
  ],
  [
    'closed as canceled',
    journalOf(requested('order/pick', 1), closed('order/pick', 'Canceled')),
    undefined,
    ['Closed', 'Canceled', 1, 5001, 100, 200],
  ],
  [
    'could not be requested',
    journalOf({ type: 'ActivityStarted', path: 'order/pick' }, { type: 'OrderBlocked', path: 'order/pick', fault: {} }),
    alive('order/pick', 'Faulting'),
    ['Faulting', null, 0, null, 100, null],
  ],
  [
    'blocked, then resubmitted',
    journalOf(
      requested('order/pick', 1),
      { type: 'OrderBlocked', path: 'order/pick', fault: {} },
      { type: 'OrderUnblocked', path: 'order/pick' },
      requested('order/pick', 2),
    ),
    undefined,
    ['Executing', null, 2, 5002, 100, null],
  ],
  [
    'run again after its end',
    journalOf(requested('order/pick', 1), closed('order/pick'), requested('order/pick', 1)),
    alive('order/pick', 'Executing'),
    ['Executing', null, 2, 5001, 300, null],
  ],
  [
    'the state is newer than the journal',
    journalOf(requested('order/pick', 1)),
    alive('order/pick', 'Canceling'),
    ['Canceling', null, 1, 5001, 100, null],
  ],
  [
    'an event of the whole order',
    journalOf({ type: 'OrderSubmitted', workflow: 'w@1' }, { type: 'DeadlineExpired', failureCount: 1 }),
    undefined,
    ['Initialized', null, 0, null, null, null],
  ],
];

for (const [why, journal, state, wanted] of courses) {
  test(`a step is reported with its state and its times: ${why}`, () => {
    const [pick, pack] = stepsOf(program, journal, state);
    assert.ok(pick && pack);
    assert.deepEqual([pick.status, pick.result, pick.attempts, pick.completeBy, pick.startedAt, pick.closedAt], wanted);
    assert.deepEqual(
      [pick.path, pick.name, pick.agent, pick.operation, pack.path, pack.status],
      ['order/pick', 'pick', 'stock', 'pick', 'order/pack', 'Initialized'],
    );
  });
}

/** Journal, and the times of the first step's request and answer. Each entry is 100 ms after the one before. */
const durations: readonly [string, JournalEntry[], unknown[]][] = [
  ['an answer closes it at once', journalOf(requested('order/pick', 1), closed('order/pick')), [100, 200]],
  ['it was requested twice', journalOf(requested('order/pick', 1), requested('order/pick', 2), closed('order/pick')), [100, 300]],
  [
    'its answer came while the order was blocked, and closes it after the resubmission',
    journalOf(
      requested('order/pick', 1),
      { type: 'OrderBlocked', path: 'order/pack', fault: {} },
      { type: 'ReplyRecorded', path: 'order/pick', status: 'succeeded' },
      { type: 'OrderUnblocked', path: 'order/pack' },
      closed('order/pick'),
    ),
    [100, 300],
  ],
  [
    'a person resubmitted it: the wait for the person does not count',
    journalOf(
      requested('order/pick', 1),
      { type: 'OrderBlocked', path: 'order/pick', fault: {} },
      { type: 'OrderUnblocked', path: 'order/pick' },
      requested('order/pick', 2),
      closed('order/pick'),
    ),
    [400, 500],
  ],
  ['it is at work', journalOf(requested('order/pick', 1)), [100, null]],
  ['it was canceled', journalOf(requested('order/pick', 1), closed('order/pick', 'Canceled')), [100, null]],
];

for (const [why, journal, wanted] of durations) {
  test(`a step is reported with the times of its request and its answer: ${why}`, () => {
    const [pick] = stepsOf(program, journal, undefined);
    assert.deepEqual([pick?.requestedAt, pick?.answeredAt], wanted);
  });
}

test('a step in a loop is reported once per iteration, at its place in the definition', () => {
  const journal = journalOf(requested('order[0]/pick', 1), requested('order[1]/pick', 1), closed('order[0]/pick'));
  assert.deepEqual(
    stepsOf(program, journal, undefined).map(({ path, status }) => [path, status]),
    [
      ['order[0]/pick', 'Closed'],
      ['order[1]/pick', 'Executing'],
      ['order/pack', 'Initialized'],
    ],
  );
});

test('a journal is complete and in order, however its pages overlap', () => {
  const journal = journalOf(...Array.from({ length: 9 }, () => ({ type: 'OrderClaimed', epoch: 1 })));
  const page = (from: number, to: number) => journal.slice(from, to) as never;
  assert.deepEqual(wholeJournal([page(3, 6), page(0, 4), page(0, 4)], journal.slice(5)), journal);
  assert.deepEqual(wholeJournal([], journal), journal);
});
