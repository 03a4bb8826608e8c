import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Step } from '#core/activities/step';
import { advance } from '#core/advance';
import type { Event, EventContent } from '#core/data/event';
import type { Json } from '#core/data/json';
import { initialState, type State } from '#core/data/state';
import type { Activity } from '#core/definition/definition';
import { registerFunction } from '#core/definition/functions';
import { programOf } from '#core/definition/program';
import type { ByteBudget } from '#core/engine/transition';
import { sequence, step, workflow } from '../support/workflows.ts';

const large = 'x'.repeat(5000);
registerFunction('enlarge@1', () => large);

const read = (name: string): Activity => step('read', { input: { $cel: `steps.${name}` } });
const of = (text: string) => ({ $cel: text });
const start = { type: 'started', stepMs: 30_000 } as const;
const answer = (path: string, output: Json) =>
  ({ type: 'replied', requestId: `o1/${path}/1#1.1`, sentAt: 0, reply: { status: 'succeeded', output } }) as const;
const signal = { type: 'signaled', name: 'go', payload: large } as const;

/** Applies the events to an order whose body is a long text; the last event has this byte budget. */
function suffer(byteBudget: number | ByteBudget, activities: readonly Activity[], ...happen: readonly EventContent[]): State {
  const program = programOf(workflow(sequence('order', ...activities)));
  const subject = { orderId: 'o1', order: large };
  return happen.reduce((state, event, index) => {
    const handed =
      index === happen.length - 1
        ? { byteBudget: typeof byteBudget === 'number' ? { state: byteBudget, journal: byteBudget } : byteBudget }
        : {};
    return advance(program, subject, state, { at: 0, epoch: 1, ...event } as Event, handed).state;
  }, initialState);
}

const undo = step('undo', { operation: 'undo', input: of('steps.a') }) as Step;
const wait: Activity = { activity: 'waitFor', name: 'wait', signal: 'go' };
const assign: Activity = { activity: 'assign', name: 'keep', variable: 'kept', value: of('order') };
const inOrder = (name: string, more: object): Activity => ({ activity: 'forEach', name, list: [of('order')], do: step('a'), ...more });

const refused: readonly (readonly [what: string, path: string, says: RegExp, activities: readonly Activity[], ...EventContent[]])[] = [
  [
    'an output that a later step reads',
    'order/a',
    /^The reply at order\/a has 5002 bytes; /,
    [step('a'), read('a')],
    start,
    answer('order/a', large),
  ],
  ['an output that its undo reads', 'order/a', /^The reply/, [step('a', { undo })], start, answer('order/a', large)],
  ['an output that only the journal keeps', 'order/a', /^The reply/, [step('a')], start, answer('order/a', large)],
  ['an assigned variable', 'order/keep', /^The assigned value at order\/keep has 5011 bytes; /, [assign, step('a')], start],
  [
    'the result of a compute function',
    'order/c',
    /^The output/,
    [{ activity: 'compute', name: 'c', function: 'enlarge@1', input: {} }, read('c')],
    start,
  ],
  ['the payload of a signal', 'order/wait', /^The output/, [wait, read('wait')], start, signal],
  ['the entries of a loop', 'order/loop', /^The local state/, [assign, inOrder('loop', { list: [of('vars.kept')] }), step('z')], start],
  [
    'the entry that a turn adds to a collected list',
    'order/loop',
    /^The new entry of the collected list at order\/loop has 5002 bytes; /,
    [inOrder('loop', { do: step('a'), list: [1, 2], collect: of('order') }), read('loop')],
    start,
    { ...answer('order/loop[1]/a', {}) },
  ],
  ['the input of a step when variables may change', 'order/a', /^The local state/, [assign, step('a', { input: of('vars.kept') })], start],
];

describe('a value that would make the state too large is a fault at its place', () => {
  for (const [what, path, says, activities, ...events] of refused) {
    // A loop and a step also keep the value of the variable.
    const byteBudget = activities.includes(assign) && path !== 'order/keep' ? 9000 : 5000;
    test(`S23: ${what}`, () => {
      const { blocked } = suffer(byteBudget, activities, ...events);
      assert.deepEqual([blocked?.path, blocked?.fault.type, blocked?.fault.permanent], [path, 'Engine/StateTooLarge', true]);
      assert.equal(blocked?.fault.outcomeUnknown, says.source.startsWith('^The reply') ? true : undefined);
      assert.match(blocked?.fault.message ?? '', says);
      assert.equal(suffer(20_000, activities, ...events).blocked, undefined, 'with a larger budget the order continues');
    });
  }

  test('S23: a reply that arrives while the order is blocked, and would make the state too large, is recorded as StateTooLarge', () => {
    const activities = [{ activity: 'parallel', name: 'both', children: [step('a'), step('b')] } as Activity];
    const state = suffer(5000, activities, start, { type: 'exhausted', path: 'order/both/b' }, answer('order/both/a', large));
    assert.partialDeepStrictEqual(state.activities['order/both/a']?.reply, {
      status: 'failed',
      fault: { type: 'Engine/StateTooLarge', outcomeUnknown: true },
    });
  });

  test('S23: a reply of any size that confirms a step counts, and the step is undone', () => {
    const handler = { fault: 'Engine/DeadlineExceeded', do: { activity: 'compensate', name: 'compensate' } as Activity };
    const part = { ...sequence('part', step('a', { undo })), faultHandlers: [handler] };
    const overdue = { type: 'overdue', path: 'order/part/a', at: 30_000 } as unknown as EventContent;
    const confirmed = { ...answer('order/part/a', large), requestId: 'o1/order/part/a/1#1.2' };
    const { activities } = suffer(5000, [part], start, overdue, confirmed);
    assert.ok(activities['order/part/a/undo']);
  });

  test('S23: a signal for which no activity waits is not kept if it would make the state too large', () => {
    assert.deepEqual(
      [suffer(5000, [step('a'), wait], start, signal).signals, suffer(9000, [step('a'), wait], start, signal).signals?.length],
      [undefined, 1],
    );
  });

  test('S23: a short value beyond the limit is not a fault if it is not kept, or while a fault is handled', () => {
    assert.equal(suffer(0, [step('a'), step('b')], start, answer('order/a', {})).blocked, undefined);
    const fails: Activity = { activity: 'raise', name: 'fails', fault: 'Refused', message: '' };
    const handler = { fault: 'Refused', do: sequence('handler', step('a'), read('a')) };
    const handled = { ...sequence('part', fails), faultHandlers: [handler] };
    assert.equal(suffer(0, [handled], start, answer('order/part/handler/a', 'short')).blocked, undefined);
    assert.equal(suffer(0, [step('a'), read('a')], start, answer('order/a', 'short')).blocked?.fault.type, 'Engine/StateTooLarge');
  });
});
