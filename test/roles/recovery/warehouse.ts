import { defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { queueNames } from '#ports/messages';
import { type Desk, journalOf } from '../support.ts';

const Lot = z.object({ lot: z.string() });
const none = z.object({});
const worker = defineAgent('worker', {
  book: operation({ input: Lot, output: none, writes: ['lot/{lot}'], run: () => ({}) }),
  unbook: operation({ input: Lot, output: none, run: () => ({}) }),
  reserve: operation({ input: Lot, output: none, reads: ['lot/{lot}'], run: () => ({}) }),
  pack: operation({ input: Lot, output: none, run: () => ({}) }),
});
const receive = defineWorkflow('receive', { version: 1, order: Lot }, ({ order }) => {
  const book = worker.book({ lot: order.lot }).undo(() => worker.unbook({ lot: order.lot }));
  return sequence(book, worker.pack({ lot: order.lot }).noUndo());
});
const take = defineWorkflow('take', { version: 1, order: Lot }, ({ order }) =>
  sequence(worker.reserve({ lot: order.lot }).noUndo(), worker.pack({ lot: order.lot }).noUndo()),
);
/** Receipts book a lot and sales reserve from it. Then each packs. */
export const warehouseApp = defineApp({ workflows: [receive, take], agents: [worker] });

/** Delivers what tells consumers of an undone write. */
export async function told(desk: Desk): Promise<void> {
  await desk.deliver(queueNames.submissions);
  await desk.deliver(queueNames.wakeUps);
}

export const foundIn = async (desk: Desk, orderId: string): Promise<number> =>
  (await journalOf(desk, orderId)).filter(({ type }) => type === 'InconsistencyFound').length;
