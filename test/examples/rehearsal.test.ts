import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { given, rehearse } from 'redress/testing';
import { customer, inventory, payment, shipping } from '../../examples/orders/agents.ts';
import { AddressInvalid, CardDeclined, OutOfStock } from '../../examples/orders/faults.ts';
import { fulfilOrder } from '../../examples/orders/workflow.ts';

const samples = new URL('../../examples/orders/samples/', import.meta.url);
const { order } = JSON.parse(readFileSync(new URL('ok.json', samples), 'utf8'));
const storyOf = (...whens: Parameters<typeof rehearse>[2][]) => rehearse(fulfilOrder, order, ...whens).story();

describe('the sample workflow, rehearsed', () => {
  test('the order completes without faults', () => {
    assert.equal(storyOf(), 'inventory.reserve ok, payment.charge ok, shipping.ship ok, customer.notify ok, completed');
  });

  test('when the card is declined, the order is compensated', () => {
    const run = rehearse(fulfilOrder, order, given(payment.charge).faults(CardDeclined));
    assert.equal(run.story(), 'inventory.reserve ok, payment.charge CardDeclined, inventory.release ok, customer.notify ok, compensated');
    assert.equal(run.outcome, 'compensated');
    assert.deepEqual(run.undone, ['order/reserve']);
    assert.deepEqual(run.leftDone, ['order/on-Refused/apologise']);
  });

  test('the output of one step becomes the input of the next', () => {
    const { steps } = rehearse(
      fulfilOrder,
      order,
      given(inventory.reserve).answers({ reservationId: 'r-17' }),
      given(payment.charge).faults(CardDeclined),
    );
    assert.deepEqual(steps.find(({ operation }) => operation === 'inventory.release')?.input, { reservationId: 'r-17' });
  });

  test('when the payment service is down for a while, the waits take no real time', () => {
    const run = rehearse(fulfilOrder, order, given(payment.charge).failsForNow(2));
    assert.equal(
      run.story(),
      'inventory.reserve ok, payment.charge ServiceUnavailable, payment.charge ServiceUnavailable, payment.charge ok, shipping.ship ok, customer.notify ok, completed',
    );
    assert.equal(run.tookMs, 40_000);
  });

  test('missing replies are counted, and above the failure limit a person decides', () => {
    assert.equal(
      storyOf(given(shipping.ship).isSilent(2)),
      'inventory.reserve ok, payment.charge ok, shipping.ship silent, customer.notify ok, shipping.ship silent, shipping.ship ok, completed',
    );
    const run = rehearse(fulfilOrder, order, given(payment.charge).isSilent());
    assert.equal(run.story(), `inventory.reserve ok, ${'payment.charge silent, '.repeat(4)}blocked for DeadlineExceeded`);
    assert.deepEqual(run.leftDone, ['order/reserve', 'order/retry/charge?']);
    assert.equal(run.why(), 'Blocked: DeadlineExceeded at order/retry/charge; its outcome is unknown.');
  });

  test('a fault for an operator blocks the order', () => {
    const run = rehearse(fulfilOrder, order, given(shipping.ship).faults(AddressInvalid, 'no such street'));
    assert.equal(run.outcome, 'blocked');
    assert.equal(run.fault?.message, 'no such street');
    assert.equal(
      run.story(),
      'inventory.reserve ok, payment.charge ok, shipping.ship AddressInvalid, customer.notify ok, blocked for AddressInvalid',
    );
  });

  test('a stub may apply to one request only, or to one step', () => {
    assert.match(storyOf(given(payment.charge).isSilent().once()), /payment.charge silent, payment.charge ok, .*completed$/);
    assert.match(
      storyOf(given(payment.charge).failsForNow().nth(2), given(payment.charge).isSilent().once()),
      /charge silent, payment.charge ServiceUnavailable, payment.charge ok/,
    );
    assert.match(storyOf(given(customer.notify).isSilent().at('order/on-Refused/apologise')), /notify ok, completed$/);
  });

  test('the compiler refuses faults that an operation does not declare', () => {
    // @ts-expect-error: OutOfStock is a fault of inventory.reserve
    given(payment.charge).faults(OutOfStock);
    // @ts-expect-error: no fault is declared
    given(customer.notify).faults(CardDeclined);
    // @ts-expect-error: it answers with a chargeId
    given(payment.charge).answers({ refundId: 'r-1' });
  });
});

describe('the sample workflow with every possible failure', () => {
  test('the table has a row for each fault of each step', () => {
    assert.equal(
      rehearse.every(fulfilOrder, order).table(),
      `\
step                  fault                                         outcome                       undone   left done
--------------------  --------------------------------------------  ----------------------------  -------  -------------------------------------------------------
nothing goes wrong                                                  completed                              reserve, retry/charge, parallel/ship, parallel/confirm
reserve               OutOfStock                                    rejected                               on-Refused/apologise
reserve               silence                                       blocked for DeadlineExceeded           reserve?
reserve               outcome unknown                               blocked for InvalidReply               reserve?
retry/charge          CardDeclined                                  compensated                   reserve  on-Refused/apologise
retry/charge          silence                                       blocked for DeadlineExceeded           reserve, retry/charge?
retry/charge          outcome unknown                               blocked for InvalidReply               reserve, retry/charge?
parallel/ship         AddressInvalid                                blocked for AddressInvalid             reserve, retry/charge, parallel/confirm
parallel/ship         silence                                       blocked for DeadlineExceeded           reserve, retry/charge, parallel/ship?, parallel/confirm
parallel/ship         outcome unknown                               blocked for InvalidReply               reserve, retry/charge, parallel/ship?, parallel/confirm
parallel/confirm      silence                                       blocked for DeadlineExceeded           reserve, retry/charge, parallel/ship, parallel/confirm?
parallel/confirm      outcome unknown                               blocked for InvalidReply               reserve, retry/charge, parallel/ship, parallel/confirm?
on-Refused/apologise  silence, after OutOfStock at reserve          blocked for DeadlineExceeded           on-Refused/apologise?
on-Refused/apologise  outcome unknown, after OutOfStock at reserve  blocked for InvalidReply               on-Refused/apologise?
reserve/undo          silence, after CardDeclined at retry/charge   stuck                                  reserve

Never asked for: retry/charge/undo, parallel/ship/undo.
`,
    );
  });

  test('each row of the table has the story of its rehearsal', () => {
    const { rows, neverAsked } = rehearse.every(fulfilOrder, order);
    const row = rows.find(({ step }) => step === 'order/reserve/undo');
    assert.partialDeepStrictEqual(row, { fault: 'silence', after: 'CardDeclined at order/retry/charge', outcome: 'stuck', undone: [] });
    assert.match(row?.rehearsal.story() ?? '', /^inventory.reserve ok, payment.charge CardDeclined, (inventory.release silent, ){5}stuck$/);
    assert.deepEqual(neverAsked, ['order/retry/charge/undo', 'order/parallel/ship/undo']);
  });
});
