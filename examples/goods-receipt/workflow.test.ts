import { expect, test } from '@jest/globals';
import { given, instruct, rehearse, startSystem, type TestSystem } from 'redress/testing';
import app from './app.ts';
import b from './sales/b.json' with { type: 'json' };
import c from './sales/c.json' with { type: 'json' };
import d from './sales/d.json' with { type: 'json' };
import lot4711 from './samples/lot-4711.json' with { type: 'json' };
import { papers, receiveGoods } from './workflow.ts';

test('a receipt with correct papers is paid, and one with wrong papers is undone by a person', () => {
  const correct = rehearse(receiveGoods, lot4711.order, given(papers).comes({ correct: true }));
  expect(correct.story()).toBe('warehouse.book ok, signal papers ok, accounts.pay ok, completed');

  const wrong = given(papers).comes({ correct: false });
  expect(rehearse(receiveGoods, lot4711.order, wrong).outcome).toBe('blocked');
  const undone = rehearse(receiveGoods, lot4711.order, wrong, instruct({ kind: 'recover' }));
  expect(undone.story()).toBe('warehouse.book ok, signal papers ok, instruction recover, warehouse.unbook ok, compensated');
});

test('the sales that have reserved from an undone lot get a message, and a sale from another lot does not', async () => {
  const system = await startSystem(app);
  const receipt = await submitted(system, lot4711);
  const [sent, waiting, other] = [await submitted(system, b), await submitted(system, c), await submitted(system, d)];
  await system.signal(receipt, 'papers', { correct: false });
  expect(await system.instruct(receipt, { kind: 'recover' })).toMatchObject({ outcome: 'done' });
  await system.passTime(1000);

  expect(await system.state(receipt)).toMatchObject({ processState: 'Processed', outcome: 'compensated' });
  expect(await system.state(sent)).toMatchObject({ outcome: 'completed', open: [expect.anything()] });
  expect(await system.state(waiting)).toMatchObject({ processState: 'Error', fault: { type: 'Inconsistent', source: 'order/reserve' } });
  expect(await system.state(other)).toMatchObject({ processState: 'Processing', fault: null });
  await system.stop();
});

/** Submits an order, and gives it the time for its first steps. */
async function submitted(system: TestSystem, { order, workflow }: typeof lot4711 | typeof b): Promise<string> {
  const { outcome, ...rest } = await system.submit(order, { workflow });
  if (outcome !== 'accepted' || !('order' in rest)) throw new Error(`The order is ${outcome}.`);
  await system.passTime(1000);
  return rest.order.orderId;
}
