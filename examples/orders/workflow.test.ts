import { expect, test } from '@jest/globals';
import { crashTest, given } from 'redress/testing';
import { customer, inventory, payment, shipping } from './agents.ts';
import { CardDeclined } from './faults.ts';
import sample from './samples/ok.json' with { type: 'json' };
import { fulfilOrder } from './workflow.ts';

const agents = [inventory, payment, shipping, customer];
const { order } = sample;

test('an order comes to its end wherever the process dies', async () => {
  const { runs, outcomes } = await crashTest(fulfilOrder, agents, { order });
  expect(outcomes).toEqual({ completed: runs });
});

test('an order that is refused is undone wherever the process dies', async () => {
  await crashTest(fulfilOrder, agents, { order, stubs: given(payment.charge).faults(CardDeclined), mayBlock: false });
});
