import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ChildNotCompleted,
  call,
  DeadlineExceeded,
  defineWorkflow,
  fault,
  parallel,
  sequence,
  type WorkflowDefinition,
  waitFor,
} from 'redress';
import { given, rehearse } from 'redress/testing';
import * as z from 'zod';
import { CardDeclined, inventory, OutOfStock, payment, shipping } from '../../../examples/activities/agents.ts';
import { shipAll, shipOne } from '../../../examples/activities/call.ts';

const order = { skus: ['tea', 'cup'] };

describe('workflows that call others, in a rehearsal', () => {
  test('the steps of a called order are played with the same stubs', () => {
    const run = rehearse(shipAll, { skus: ['tea'] }, given(inventory.reserve).answers({ reservationId: 'r7' }));
    assert.equal(run.story(), 'ship-one > inventory.reserve ok, ship-one > shipping.ship ok, ship-one ok, completed');
    assert.deepEqual(
      run.steps.map(({ path, operation }) => [path, operation]),
      [
        ['order/skus[0]/ship-one > order/reserve', 'inventory.reserve'],
        ['order/skus[0]/ship-one > order/ship', 'shipping.ship'],
        ['order/skus[0]/ship-one', 'workflows.ship-one@1'],
      ],
    );
  });

  test('a called order that fails has undone its own work, and its caller undoes the other orders that it called', () => {
    const run = rehearse(shipAll, order, given(inventory.reserve).faults(OutOfStock).at('order/skus[1]/ship-one > order/reserve'));
    assert.equal(
      run.story(),
      [
        'ship-one > inventory.reserve ok',
        'ship-one > inventory.reserve OutOfStock',
        'ship-one > shipping.ship ok',
        'ship-one OutOfStock',
        'ship-one ok',
        'ship-one > inventory.release ok',
        'ship-one undone',
        'customer.tell ok',
        'compensated',
      ].join(', '),
    );
    assert.deepEqual(run.undone, ['order/skus[0]/ship-one > order/reserve']);
  });

  test('a stub may answer for the whole called order', () => {
    const whens = [given(shipOne).answers({ reservation: 'r1' }).once(), given(shipOne).faults(OutOfStock, 'no tea')];
    const run = rehearse(shipAll, order, ...whens);
    assert.equal(run.story(), 'ship-one ok, ship-one OutOfStock, ship-one undone, customer.tell ok, compensated');
    assert.deepEqual(run.steps.at(-1)?.input, { text: 'no tea' });
    // @ts-expect-error: it answers with a reservation
    given(shipOne).answers({ parcel: 'p1' });
    // @ts-expect-error: not a fault that goes to its caller
    given(shipOne).faults(CardDeclined);
  });

  test('a called order that ends without completing is the fault ChildNotCompleted', () => {
    const Sold = fault('Sold');
    const inner = defineWorkflow('inner', { version: 1, order: z.object({}) }, () =>
      sequence(shipping.ship({ sku: 'tea' })).on(ChildNotCompleted, ({ compensate }) => compensate()),
    );
    const outer = defineWorkflow('outer', { version: 1, order: z.object({}), toOperator: [Sold] }, () => call(inner, {}));
    const run = rehearse(outer, {}, given(inner).isNotCompleted());
    assert.equal(run.story(), 'inner ChildNotCompleted, blocked for ChildNotCompleted');
  });

  test('if a called order waits for a person, its caller waits, too', () => {
    const silent = rehearse(shipAll, order, given(shipping.ship).isSilent().at('order/skus[0]/ship-one > order/ship'));
    assert.equal(silent.outcome, 'blocked');
    assert.match(silent.story(), /, ship-one > blocked for DeadlineExceeded$/);

    const go = waitFor('go', z.object({}));
    const waits = defineWorkflow('waits', { version: 1, order: z.object({}) }, () => go);
    const caller = defineWorkflow('caller', { version: 1, order: z.object({}) }, () => call(waits, {}));
    assert.equal(rehearse(caller, {}).story(), 'waits > waits for the signal go');
    assert.equal(
      rehearse(caller, {}, given(go).comes({}, { afterSeconds: 9_000_000 })).story(),
      'waits > signal go ok, waits ok, completed',
    );
  });

  test('a called order that is no longer needed is canceled, and has undone its work', () => {
    const wait = waitFor('go', z.object({}));
    const inner = defineWorkflow('slow', { version: 1, order: z.object({}), toOperator: [OutOfStock] }, () =>
      sequence(
        inventory.reserve({ sku: 'tea' }).undo(({ reservationId }) => inventory.release({ reservationId })),
        wait,
      ),
    );
    const outer = defineWorkflow('outer', { version: 1, order: z.object({}) }, () =>
      sequence(parallel(call(inner, {}), payment.charge({ amount: 1 }))).on(CardDeclined, ({ compensate }) => compensate()),
    );
    const run = rehearse(outer, {}, given(payment.charge).faults(CardDeclined));
    assert.equal(
      run.story(),
      'payment.charge CardDeclined, slow > inventory.reserve ok, slow > inventory.release ok, slow ChildNotCompleted, rejected',
    );
    assert.deepEqual(run.leftDone, []);
  });

  test('a caller past its time limit stops waiting, and no effect of its called order is left', () => {
    const go = waitFor('go', z.object({}));
    const inner = defineWorkflow('inner', { version: 1, order: z.object({}), toCaller: [OutOfStock] }, () =>
      sequence(
        inventory.reserve({ sku: 'tea' }).undo(({ reservationId }) => inventory.release({ reservationId })),
        go,
      ),
    );
    const outer = defineWorkflow('outer', { version: 1, order: z.object({}), completeWithinSeconds: 60, toOperator: [OutOfStock] }, () =>
      sequence(call(inner, {})).on(DeadlineExceeded, ({ compensate }) => compensate()),
    );
    const run = rehearse(outer, {});
    assert.equal(run.story(), 'inner > inventory.reserve ok, inner > inventory.release ok, inner ChildNotCompleted, rejected');
    assert.equal(run.tookMs, 60_000);
  });

  test('an order that a called order has called is undone by that called order', () => {
    const middle = defineWorkflow('middle', { version: 1, order: z.object({}), toCaller: [OutOfStock] }, () =>
      call(shipOne, { sku: 'tea' }),
    );
    const outer = defineWorkflow('outer', { version: 1, order: z.object({}), toOperator: [OutOfStock] }, () =>
      sequence(call(middle, {}), payment.charge({ amount: 1 })).on(CardDeclined, ({ compensate }) => compensate()),
    );
    const run = rehearse(outer, {}, given(payment.charge).faults(CardDeclined));
    assert.match(run.story(), /, middle > ship-one > inventory.release ok, middle > ship-one undone, middle undone, compensated$/);
    assert.deepEqual(run.leftDone, ['order/middle > order/ship-one > order/ship']);
  });

  test('an order that the called workflow refuses is a fault of the call', () => {
    const picky = defineWorkflow('picky', { version: 1, order: z.object({ number: z.int().max(3) }) }, () => sequence());
    const outer = defineWorkflow('outer', { version: 1, order: z.object({}) }, () => call(picky, { number: 4 }));
    assert.match(rehearse(outer, {}).fault?.message ?? '', /^Invalid order for picky@1: .*<=3/);
  });

  test('a definition that was read as data needs a stub for each workflow that it calls', () => {
    const read = JSON.parse(JSON.stringify(shipAll)) as WorkflowDefinition;
    assert.throws(() => rehearse(read, order), /Cannot play workflow ship-one@1 \(order\/skus\[0\]\/ship-one\)/);
    assert.equal(rehearse(read, order, given(shipOne).answers({ reservation: 'r1' })).outcome, 'completed');
  });

  test('the table has each failure of a called order, with its declared faults and those of the engine', () => {
    const { rows, neverAsked } = rehearse.every(shipAll, order);
    assert.deepEqual(
      rows.map(({ step, fault, outcome }) => [step, fault, outcome]),
      [
        ['', '', 'completed'],
        ['order/skus[0]/ship-one', 'OutOfStock', 'rejected'],
        ['order/skus[0]/ship-one', 'ChildNotCompleted', 'blocked'],
        ['order/on-OutOfStock/tell', 'silence', 'blocked'],
        ['order/on-OutOfStock/tell', 'outcome unknown', 'blocked'],
      ],
    );
    assert.deepEqual(neverAsked, ['order/skus/ship-one/undo']);
  });
});
