import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  call,
  cel,
  compensate,
  DeadlineExceeded,
  defineAgent,
  defineWorkflow,
  type Expr,
  fault,
  forEach,
  operation,
  parallel,
  sequence,
  waitFor,
} from 'redress';
import { crashTest, given, instruct, rehearse } from 'redress/testing';
import * as z from 'zod';

const Sold = fault('Sold');
const Lost = fault('Lost');
const Empty = z.object({});
const run = () => ({});
const shop = defineAgent('shop', {
  pack: operation({ input: z.object({ sku: z.string(), size: z.object({ cm: z.number() }) }), output: Empty, faults: [Sold], run }),
  unpack: operation({ input: Empty, output: Empty, faults: [Lost], run }),
  ship: operation({ input: Empty, output: Empty, run }),
  paint: operation({ input: Empty, output: Empty, longestSeconds: 300, heartbeats: 'automatic', run }),
});
const Order = z.object({ skus: z.array(z.string()) });
const order = { skus: ['tea'] };
const paid = waitFor('paid', z.object({ amount: z.number() }));
const packed = (sku: string | Expr<string>) => shop.pack({ sku, size: { cm: 9 } }).undo(() => shop.unpack({}));

const parcel = defineWorkflow('parcel', { version: 1, order: Order, toOperator: [Sold] }, ({ order }) =>
  sequence(
    forEach(order.skus, (sku) => packed(sku)),
    shop.ship({}),
  ),
);
const one = defineWorkflow('one', { version: 1, order: Order, toOperator: [Sold] }, () => sequence(packed('tea'), shop.ship({})));

describe('the duration of an operation', () => {
  test('an operation within its time limit adds its duration to that of the order', () => {
    const { story, tookMs } = rehearse(one, order, given(shop.pack).takes(20), given(shop.ship).answers({}).takes(5));
    assert.deepEqual([story(), tookMs], ['shop.pack ok, shop.ship ok, completed', 25_000]);
  });

  test('F-37: an operation that exceeds its time limit is requested again, and then blocks the order', () => {
    assert.equal(
      rehearse(one, order, given(shop.ship).takes(31).once()).story(),
      'shop.pack ok, shop.ship silent, shop.ship ok, completed',
    );
    const { outcome, tookMs, leftDone } = rehearse(one, order, given(shop.ship).takes(31));
    assert.deepEqual([outcome, tookMs, leftDone], ['blocked', 120_000, ['order/pack', 'order/ship?']]);
  });

  test('F-37: an operation with heartbeats may take as long as its longestSeconds', () => {
    const painted = defineWorkflow('painted', { version: 1, order: Order }, () => sequence(shop.paint({})));
    assert.equal(rehearse(painted, order, given(shop.paint).takes(299)).story(), 'shop.paint ok, completed');
    const { story, tookMs } = rehearse(painted, order, given(shop.paint).takes(301).once());
    assert.deepEqual([story(), tookMs], ['shop.paint silent, shop.paint ok, completed', 300_000]);
  });

  test('F-37: a step that exceeds its own time limit is confirmed, and undone', () => {
    const hurried = defineWorkflow('hurried', { version: 1, order: Order, toOperator: [Sold] }, () =>
      sequence(packed('tea').within(10)).on(DeadlineExceeded, () => compensate()),
    );
    assert.equal(rehearse(hurried, order, given(shop.pack).takes(9)).outcome, 'completed');
    assert.equal(
      rehearse(hurried, order, given(shop.pack).takes(11).once()).story(),
      'shop.pack silent, shop.pack ok, shop.unpack ok, compensated',
    );
  });

  test('branches answer in the order of their durations', () => {
    const both = defineWorkflow('both', { version: 1, order: Order, toOperator: [Sold] }, () => parallel(packed('tea'), shop.ship({})));
    const { story, tookMs } = rehearse(both, order, given(shop.pack).takes(9), given(shop.ship).takes(4));
    assert.deepEqual([story(), tookMs], ['shop.ship ok, shop.pack ok, completed', 9000]);
  });

  test('a called workflow may take any time to answer', () => {
    const calling = defineWorkflow('calling', { version: 1, order: Order, toOperator: [Sold] }, ({ order }) => sequence(call(one, order)));
    const { outcome, tookMs } = rehearse(calling, order, given(one).answers(null).takes(86_400));
    assert.deepEqual([outcome, tookMs], ['completed', 86_400_000]);
  });
});

describe('a stub with an input', () => {
  test('it applies only to requests whose input has the fields', () => {
    const skus = ['tea', 'cup', 'pot'];
    const sold = given(shop.pack)
      .faults(Sold)
      .forInput({ sku: 'cup', size: { cm: 9 } });
    assert.equal(rehearse(parcel, { skus }, sold).story(), 'shop.pack ok, shop.pack Sold, shop.pack ok, blocked for Sold');
    const small = given(shop.pack)
      .faults(Sold)
      .forInput({ size: { cm: 1 } });
    assert.equal(rehearse(parcel, { skus }, small).outcome, 'completed');
  });

  test('it applies in a crash test to the same requests', async () => {
    const sold = given(shop.pack).faults(Sold).forInput({ sku: 'tea' });
    assert.equal((await crashTest(one, [shop], { order, stubs: sold, only: '3 after' })).outcome, 'blocked');
    const other = given(shop.pack).faults(Sold).forInput({ sku: 'cup' });
    assert.equal((await crashTest(one, [shop], { order, stubs: other, only: '3 after' })).outcome, 'completed');
  });
});

describe('signals that arrive early', () => {
  const sold = defineWorkflow('sold', { version: 1, order: Order, toOperator: [Sold] }, () => sequence(packed('tea'), paid));
  test('F-58: a signal before the order waits for it is kept', () => {
    const early = given(paid).comes({ amount: 4 }, { atSeconds: 3 });
    const { story, tookMs } = rehearse(sold, order, given(shop.pack).takes(8), early);
    assert.deepEqual([story(), tookMs], ['signal paid ok, shop.pack ok, completed', 8000]);
  });

  test('a signal that violates its schema, or for which the order will never wait, is refused by name', () => {
    const wrong = given(paid).comes({ amount: 'four' } as never, { atSeconds: 0 });
    assert.throws(
      () => rehearse(sold, order, given(shop.pack).takes(8), wrong),
      /Cannot apply signal paid to the order of the workflow sold at this point: \/amount /,
    );
    const nobodys = given(paid).comes({ amount: 4 }, { atSeconds: 0 });
    assert.throws(() => rehearse(one, order, given(shop.pack).takes(8), nobodys), /The order will not wait for the signal "paid"/);
  });
});

describe('clients and operators', () => {
  test('F-170: after a cancellation while a step is running, the order waits for the reply and undoes the step', () => {
    const cancel = instruct({ kind: 'cancel' }, { atSeconds: 5 });
    const { story, tookMs } = rehearse(one, order, given(shop.pack).takes(8), cancel);
    assert.deepEqual([story(), tookMs], ['instruction cancel, shop.pack ok, shop.unpack ok, canceled', 8000]);
  });

  test('a cancellation that a test places at a step comes with the request of that step', () => {
    const cancel = instruct({ kind: 'cancel' }).at('order/ship');
    assert.equal(rehearse(one, order, cancel).story(), 'shop.pack ok, instruction cancel, shop.ship ok, shop.unpack ok, canceled');
    assert.equal(rehearse(one, order, cancel, given(shop.pack).faults(Sold)).outcome, 'blocked', 'it is never requested');
  });

  test('F-60: a person resubmits a blocked order, and compensates it when it is blocked again', () => {
    const sold = given(shop.pack).faults(Sold);
    const again = instruct({ kind: 'resubmit' });
    assert.equal(rehearse(one, order, again, sold.once()).outcome, 'completed');
    assert.equal(
      rehearse(one, order, again, instruct({ kind: 'compensate' }), sold).story(),
      'shop.pack Sold, instruction resubmit, shop.pack Sold, instruction compensate, compensated',
    );
    assert.equal(rehearse(one, order, instruct({ kind: 'terminate' }), sold).outcome, 'terminated');
  });

  test('a person marks an undo that keeps failing as compensated, at once or later', () => {
    const stuck = [instruct({ kind: 'cancel' }).at('order/ship'), given(shop.unpack).faults(Lost)];
    assert.equal(rehearse(one, order, ...stuck).outcome, 'stuck');
    const run = rehearse(one, order, ...stuck, instruct({ kind: 'mark-compensated', path: 'order/pack' }));
    assert.match(run.story(), /shop.unpack Lost, instruction mark-compensated, canceled$/);
    const late = rehearse(one, order, ...stuck, instruct({ kind: 'mark-compensated' }, { atSeconds: 86_400 }));
    assert.deepEqual([late.outcome, late.tookMs], ['canceled', 86_400_000]);
  });

  test('a failing undo is requested the same number of times before each further instruction', () => {
    const people = (['suspend', 'resume', 'mark-compensated'] as const).map((kind) => instruct({ kind }));
    const { steps, outcome } = rehearse(
      one,
      order,
      instruct({ kind: 'cancel' }).at('order/ship'),
      given(shop.unpack).faults(Lost),
      ...people,
    );
    assert.deepEqual([steps.filter(({ answer }) => answer === 'Lost').length, outcome], [10, 'canceled']);
  });

  test('F-58: the time of a suspended order stands still until it is resumed', () => {
    const suspended = [given(shop.pack).takes(8), instruct({ kind: 'suspend' }, { atSeconds: 5 })];
    const { story, tookMs } = rehearse(one, order, ...suspended, instruct({ kind: 'resume' }, { atSeconds: 3600 }));
    assert.deepEqual([story(), tookMs], ['instruction suspend, shop.pack ok, instruction resume, shop.ship ok, completed', 3_600_000]);
  });

  test('an instruction that the system would refuse is an error with its reason', () => {
    assert.throws(
      () => rehearse(one, order, instruct({ kind: 'compensate' }).at('order/ship')),
      /Cannot apply instruction compensate to the order of the workflow one at this point: .*Only an order in Error can be compensated/,
    );
  });

  test('a crash test refuses stubs with durations or instructions', async () => {
    const refused = (given: Parameters<typeof rehearse>[2]) => crashTest(one, [shop], { order, stubs: given });
    await assert.rejects(refused(given(shop.pack).takes(8)), /A crash test does not support \.takes\(seconds\)/);
    await assert.rejects(refused(instruct({ kind: 'cancel' })), /A crash test does not support instructions/);
    await assert.rejects(refused(given(paid).comes({ amount: 4 }, { atSeconds: 1 })), /signals with atSeconds/);
  });
});

test('F-163: the compiler refuses impossible inputs, durations and instructions', () => {
  const sold = given(shop.pack).faults(Sold);
  // @ts-expect-error: an unknown field
  sold.forInput({ sukk: 'tea' });
  // @ts-expect-error: it is a text
  sold.forInput({ sku: 4 });
  // @ts-expect-error: a field within a field
  sold.forInput({ size: { inches: 4 } });
  // @ts-expect-error: an expression has no known value
  sold.forInput({ sku: cel<string>`'tea'` });
  // @ts-expect-error: either after the wait begins, or at a time of the order
  given(paid).comes({ amount: 4 }, { afterSeconds: 1, atSecond: 4 });
  // @ts-expect-error: a signal has no input
  given(paid).comes({ amount: 4 }).forInput;
  // @ts-expect-error: an unknown instruction
  instruct({ kind: 'undo' });
  // @ts-expect-error: only a resubmission has an answer
  instruct({ kind: 'suspend', answer: 4 });
});
