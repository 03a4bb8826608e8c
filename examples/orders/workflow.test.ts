import { expect, test } from '@jest/globals';
import { crashTest, given } from 'redress/testing';
import { customer, inventory, payment, shipping } from './agents.ts';
import { CardDeclined } from './faults.ts';
import sample from './samples/ok.json' with { type: 'json' };
import { fulfilOrder } from './workflow.ts';

const agents = [inventory, payment, shipping, customer];
const { order } = sample;

test('an order ends correctly at whichever call the process crashes', async () => {
  const { runs, outcomes } = await crashTest(fulfilOrder, agents, { order });
  expect(outcomes).toEqual({ completed: runs });
});

test('a refused order is undone at whichever call the process crashes', async () => {
  await crashTest(fulfilOrder, agents, { order, stubs: given(payment.charge).faults(CardDeclined), mayBlock: false });
});
