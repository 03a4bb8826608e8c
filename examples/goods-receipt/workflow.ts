import { defineWorkflow, equals, fault, ifTrue, not, raise, sequence, text, waitFor } from 'redress';
import * as z from 'zod';
import { accounts, warehouse } from './agents.ts';
import { Papers, Receipt, Sale } from './orders.ts';

export const PapersWrong = fault('PapersWrong', { tags: ['user', 'semantic'] });

/** An inspector has compared the papers of the supplier with the goods. */
export const papers = waitFor('papers', Papers);

/** The customer has collected the goods. */
export const collected = waitFor('collected', z.object({}));

/**
 * A supplier delivers a lot. It is booked at once, so that it can be sold, and paid when its papers are correct. Otherwise a person
 * decides, and may undo the receipt with `recover`: the sales that have reserved from the lot get a message.
 */
export const receiveGoods = defineWorkflow(
  'receive-goods',
  { version: 1, order: Receipt, toOperator: [PapersWrong] },
  ({ order: { lot, quantity, supplier } }) =>
    sequence(
      warehouse.book({ lot, quantity }).undo(() => warehouse.unbook({ lot, quantity })),
      papers,
      ifTrue(not(papers.output.correct), raise(PapersWrong, text`The papers of lot ${lot} are not those of ${supplier}.`)),
      accounts.pay({ supplier, lot }).noUndo(),
    ),
);

/** A customer takes goods of a lot: they are reserved, and then sent or collected. */
export const sellGoods = defineWorkflow('sell-goods', { version: 1, order: Sale }, ({ order: { customer, lot, quantity, delivery } }) => {
  const reserve = warehouse.reserve({ lot, quantity }).undo(({ reservationId }) => warehouse.release({ reservationId }));
  const send = warehouse.send({ reservationId: reserve.output.reservationId, to: customer }).noUndo();
  return sequence(reserve, ifTrue(equals(delivery, 'collect'), collected, send).named('deliver'));
});
