import assert from 'node:assert/strict';
import test from 'node:test';
import type { ActivityState, State } from '#core/data/state';
import { initialState } from '#core/data/state';
import { violations } from '#core/engine/invariants';
import { startRun, stepMs } from '../support/run.ts';
import { deepFreeze, sequence, step, workflow } from '../support/workflows.ts';

const run = startRun(workflow(sequence('order', step('charge'))));
run.happen({ type: 'started', stepMs });
const sound = deepFreeze(run.state);

const path = 'order/charge';
const charge = sound.activities[path] as ActivityState & { readonly local: object };
const withCharge = (change: object): State => ({ ...sound, activities: { ...sound.activities, [path]: { ...charge, ...change } } });
const fault = { type: 'X', class: 'expected', permanent: true, message: 'x' } as const;

/** States that must never be stored, and the essential words of the message about each. */
const nonsense: readonly (readonly [what: string, state: State, words: RegExp])[] = [
  ['blocked without a fault', { ...sound, phase: 'blocked' }, /phase blocked, but "blocked" is not set/],
  ['running with the fault of a blocked order', { ...sound, blocked: { path, fault, at: 1 } }, /phase running, but "blocked" is set/],
  ['closed with an open activity', { ...sound, phase: 'closed' }, /closed, but 2 activities are open/],
  ['not started with an open activity', { ...sound, phase: 'initialized' }, /not started, but 2 activities are open/],
  ['running without an open activity', { ...sound, activities: {} }, /running, but no activity is open/],
  [
    'running with a child whose parent is not open',
    { ...sound, activities: { [path]: charge } },
    /order\/charge is open, but order, which waits for it, is not/,
  ],
  ['running with a recorded reply', withCharge({ reply: { status: 'succeeded', output: {} } }), /order\/charge keeps a reply/],
  ['running with a mark', withCharge({ marked: true }), /order\/charge keeps a mark/],
  [
    'running with a fault that waits for a person',
    withCharge({ status: 'Faulting', fault, awaitsPerson: true }),
    /order\/charge has a fault for a person/,
  ],
  ['running with a step that has a fault', withCharge({ status: 'Faulting', fault }), /order\/charge is Faulting/],
  [
    'blocked by an activity without a fault',
    { ...withCharge({ status: 'Faulting' }), phase: 'blocked', blocked: { path, fault, at: 1 } },
    /^order\/charge is Faulting, but without a fault$/,
  ],
  [
    'running with a step whose attempt is negative',
    withCharge({ local: { ...charge.local, attempt: -1 } }),
    /order\/charge has generation 1 and attempt -1/,
  ],
  ['running with a step of generation zero', withCharge({ local: { ...charge.local, generation: 0 } }), /order\/charge has generation 0/],
  ['running with a step without a deadline', withCharge({ local: { ...charge.local, completeBy: null } }), /order\/charge has no time/],
];

test('a valid state gives no messages', () => {
  const couldNotBegin = {
    ...sound,
    phase: 'blocked' as const,
    blocked: { path, fault, at: 1 },
    activities: { order: { status: 'Executing' as const } },
  };
  const waits = {
    ...couldNotBegin,
    activities: { ...sound.activities, [path]: { status: 'Faulting' as const, fault, awaitsPerson: true as const } },
  };
  for (const state of [sound, initialState, couldNotBegin, waits]) assert.deepEqual(violations(run.program, state), []);
});

for (const [what, state, words] of nonsense) {
  test(`S4: the check of a state finds an order that would be ${what}`, () => {
    assert.match(violations(run.program, state).join('; '), words);
  });
}
