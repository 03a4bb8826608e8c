import { cel, defineWorkflow, forEach, sequence, text } from 'redress';
import * as z from 'zod';
import { customer, supplier } from './agents.ts';

export const bestPrice = defineWorkflow('example-collect', { version: 1, order: z.object({}) }, () => {
  const offers = forEach(['Abel', 'Bea', 'Cy'], (name) => {
    const quote = supplier.quote({ name });
    return { do: quote, collect: { name, price: quote.output.price } };
  }).named('offers');
  const prices = cel<number>`min(${offers.output}.map(offer, offer.price))`;

  return sequence(offers, customer.tell({ text: text`The best price is ${prices}.` }));
});

export const story = `
  start
  -> supplier order/offers[0]/quote key order/offers[0]/quote/1 attempt 1 with {"name":"Abel"}
  -> supplier order/offers[1]/quote key order/offers[1]/quote/1 attempt 1 with {"name":"Bea"}
  -> supplier order/offers[2]/quote key order/offers[2]/quote/1 attempt 1 with {"name":"Cy"}

  # The turns end in another sequence than the list.

  ok order/offers[2]/quote {"price": 90}

  ok order/offers[0]/quote {"price": 120}

  ok order/offers[1]/quote {"price": 80}
  -> customer order/tell key order/tell/1 attempt 1 with {"text":"The best price is 80."}

  ok order/tell
  == closed
`;

export const body = {};
