import { defineWorkflow, retry, sequence } from 'redress';
import { at, crashes, done, fails, lost, refuses, type Scenario, scenario, silent } from '../scenario.ts';
import { AddressInvalid, CardDeclined, charge, Item, Refused, reserve, ship, tell } from '../shop.ts';

export const sale = defineWorkflow('sale', { version: 1, order: Item, toOperator: [AddressInvalid] }, ({ order }) =>
  sequence(
    reserve(order.item),
    retry(charge(order.item), { count: 2, interval: 5, except: [CardDeclined] }),
    ship(order.item),
    tell(order.item),
  ).on(Refused, ({ compensate }) => sequence(compensate(), tell(order.item, 'apologise'))),
);

export const steps: readonly Scenario[] = [
  scenario('all steps are done', sale, 'completed'),
  scenario('the card is declined', sale, 'compensated', { answers: { 'order/retry/charge': [refuses()] } }),
  scenario('a step fails for now, twice', sale, 'RunFailed', { answers: { 'order/retry/charge': [fails(), fails(), done()] } }),
  scenario('a service is silent once', sale, 'DeadlineExpired', { answers: { 'order/reserve': [silent()] } }),
  scenario('a request is lost', sale, 'DeadlineExpired', { mail: [lost('request', 'order/ship')] }),
  scenario('the host dies while a step is at work', sale, 'DeadlineExpired', { events: [at(1.5, crashes)] }),
];
