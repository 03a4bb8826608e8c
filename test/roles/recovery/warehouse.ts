import type { TestContext } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import type { Rule } from '#core/rules/rule';
import { queueNames } from '#ports/messages';
import { type Desk, journalOf, ok, openDesk, submitted } from '../support.ts';

const Lot = z.object({ lot: z.string() });
const none = z.object({});
const worker = defineAgent('worker', {
  book: operation({ input: Lot, output: none, writes: ['lot/{lot}'], run: () => ({}) }),
  unbook: operation({ input: Lot, output: none, run: () => ({}) }),
  reserve: operation({ input: Lot, output: none, reads: ['lot/{lot}'], run: () => ({}) }),
  release: operation({ input: Lot, output: none, run: () => ({}) }),
  pack: operation({ input: Lot, output: none, run: () => ({}) }),
});
const receive = defineWorkflow('receive', { version: 1, order: Lot }, ({ order }) => {
  const book = worker.book({ lot: order.lot }).undo(() => worker.unbook({ lot: order.lot }));
  return sequence(book, worker.pack({ lot: order.lot }).noUndo());
});
const take = defineWorkflow('take', { version: 1, order: Lot }, ({ order }) =>
  sequence(worker.reserve({ lot: order.lot }).noUndo(), worker.pack({ lot: order.lot }).noUndo()),
);
/** Gives back what it has reserved if it does not complete. */
const hold = defineWorkflow('hold', { version: 1, order: Lot }, ({ order }) => {
  const reserve = worker.reserve({ lot: order.lot }).undo(() => worker.release({ lot: order.lot }));
  return sequence(reserve, worker.pack({ lot: order.lot }).noUndo());
});
/** Receipts book a lot and sales reserve from it. Then each packs. */
export const warehouseApp = defineApp({ workflows: [receive, take, hold], agents: [worker] });

/** A receipt has booked lot 4711 and packs it, and a sale has reserved from the lot. The rule is in force before, if there is one. */
export async function received(context: TestContext, given?: Rule) {
  const desk = openDesk(context, warehouseApp);
  if (given) await desk.system.rules.put(given, { by: 'ada', reason: 'a test', expected: undefined });
  const receipt = await submitted(desk, { lot: '4711' }, { workflow: 'receive' });
  await desk.answer(await desk.request(), ok({}));
  const pack = await desk.request();
  await desk.clock.advance(10);
  const sale = await submitted(desk, { lot: '4711' }, { workflow: 'take' });
  await desk.answer(await desk.request(), ok({}));
  await desk.requests();
  await desk.clock.advance(10);
  return { desk, receipt, sale, pack };
}

/** Has another order tell that a write is undone that an order has read. */
export async function tellUndone(desk: Desk, orderId: string, inconsistency: object): Promise<void> {
  await desk.send(queueNames.wakeUps, { v: 1, type: 'wake-up', orderId, sentAt: new Date(desk.clock.now()).toISOString(), inconsistency });
  await desk.deliver(queueNames.wakeUps);
}

/** Delivers what tells consumers of an undone write. */
export async function told(desk: Desk): Promise<void> {
  await desk.deliver(queueNames.submissions);
  await desk.deliver(queueNames.wakeUps);
}

export const foundIn = async (desk: Desk, orderId: string): Promise<number> =>
  (await journalOf(desk, orderId)).filter(({ type }) => type === 'InconsistencyFound').length;
