import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { defineApp } from 'redress';
import { type Json, utf8Bytes } from '#core/data/json';
import { decodeInstance } from '#roles/scheduler/instance';
import { shownLine } from '#roles/scheduler/recorded-events';
import { storedJournal } from '#roles/scheduler/step-report';
import { customer, inventory, payment, shipping } from '../../examples/orders/agents.ts';
import { fulfilOrder } from '../../examples/orders/workflow.ts';
import { ok, openDesk, submitted } from './support.ts';

const app = defineApp({ workflows: [fulfilOrder], agents: [customer, inventory, payment, shipping] });
const sample = JSON.parse(readFileSync(new URL('../../examples/orders/samples/ok.json', import.meta.url), 'utf8'));
const outputs: { readonly [operation: string]: Json } = {
  reserve: { reservationId: 'r-1' },
  charge: { chargeId: 'c-1' },
  ship: { shipmentId: 's-1', trackingNumber: 't-1' },
};
const bytesMax = 120;

test('F-160: the events of an order without trouble add at most 120 bytes to its journal', async (context) => {
  const desk = openDesk(context, app);
  const orderId = await submitted(desk, sample.order, { workflow: 'fulfil-order' });
  for (const agent of ['inventory', 'payment', 'shipping', 'customer'])
    for (const request of await desk.requests(agent)) await desk.answer(request, ok(outputs[request.operation] ?? {}), { agent });
  const record = await desk.state(orderId);
  assert.equal(record.outcome, 'completed');
  const lines = storedJournal(await desk.store.pages(orderId), decodeInstance(record).tail);
  const bytesOf = (each: unknown): number => utf8Bytes(each as never);
  const [first, ...others] = lines.map(shownLine) as readonly object[];
  const added = bytesOf(lines) - bytesOf([{ ...first, v: undefined }, ...others]);
  context.diagnostic(`${added} bytes of ${bytesOf(lines)}`);
  assert.ok(added <= bytesMax, `${added} bytes`);
});
