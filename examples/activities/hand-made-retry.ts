import { and, assign, cel, defineWorkflow, delay, ifTrue, lessThan, not, repeatWhile, scope, sequence, variables } from 'redress';
import * as z from 'zod';
import { customer, inventory, OutOfStock, shipping } from './agents.ts';

const vars = variables<{ attempts: number; done: boolean }>();

/** A retry built by hand: a while around a sequence, a scope that handles the fault, and a choice that waits. */
export const handMadeRetry = defineWorkflow(
  'example-hand-made-retry',
  { version: 1, order: z.object({ sku: z.string() }) },
  ({ order }) => {
    const goesOn = and(not(vars.done), lessThan(vars.attempts, 3));

    const attempt = scope('attempt', sequence(inventory.reserve({ sku: order.sku }), assign(vars.done, true))).on(OutOfStock, () =>
      sequence(assign(vars.attempts, cel`${vars.attempts} + 1`), customer.tell({ text: 'We are waiting for the goods.' })),
    );
    const turn = sequence(attempt, ifTrue(goesOn, delay({ seconds: 3600 })).named('again'));
    const shipIfReserved = ifTrue(vars.done, shipping.ship({ sku: order.sku })).named('end');

    return sequence(assign(vars.attempts, 0), assign(vars.done, false), repeatWhile(goesOn, turn), shipIfReserved);
  },
);

export const story = `
  start
  -> inventory order/while[0]/sequence/attempt/sequence/reserve key order/while[0]/sequence/attempt/sequence/reserve/1 attempt 1 with {"sku":"tea"}

  fault order/while[0]/sequence/attempt/sequence/reserve Refused/OutOfStock permanent
  -> customer order/while[0]/sequence/attempt/on-OutOfStock/tell key order/while[0]/sequence/attempt/on-OutOfStock/tell/1 attempt 1 with {"text":"We are waiting for the goods."}

  ok order/while[0]/sequence/attempt/on-OutOfStock/tell
  .. wake at +3600s

  after 3600s
  -> inventory order/while[1]/sequence/attempt/sequence/reserve key order/while[1]/sequence/attempt/sequence/reserve/1 attempt 1 with {"sku":"tea"}

  ok order/while[1]/sequence/attempt/sequence/reserve {"reservationId": "r1"}
  -> shipping order/end/ship key order/end/ship/1 attempt 1 with {"sku":"tea"}

  ok order/end/ship
  == closed
`;

export const body = { sku: 'tea' };
