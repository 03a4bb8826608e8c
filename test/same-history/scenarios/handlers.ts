import {
  at,
  cancels,
  done,
  doneInSilence,
  fails,
  failsForGood,
  lost,
  marks,
  refuses,
  resubmits,
  type Scenario,
  scenario,
  silent,
} from '../scenario.ts';
import { clumsy, pair, sale, scopes } from '../workflows.ts';

/** Faults, their handlers, and the undos that they cause. */
export const handlers: readonly Scenario[] = [
  scenario('the card is declined', sale, ['FaultHandled', 'stock.release', 'compensated'], {
    answers: { 'order/retry/charge': [refuses()] },
  }),
  scenario('there is nothing to undo', sale, ['FaultHandled', '"outcome":"rejected"'], { answers: { 'order/reserve': [refuses()] } }),
  scenario('without a handler for the fault, the order is blocked', sale, ['AddressInvalid', 'Order In Error'], {
    answers: { 'order/ship': [refuses()] },
  }),
  scenario('the innermost matching handler handles the fault', scopes, ['order/second', 'mail.tell', 'carrier.ship'], {
    answers: { 'order/second/sequence/charge': [refuses()] },
  }),
  scenario('a scope is undone by its name', scopes, ['bank.refund', 'stock.release'], {
    answers: { 'order/second/sequence/reserve-more': [refuses()] },
  }),
  scenario('scopes are undone, newest first', scopes, ['bank.refund', '"outcome":"canceled"'], {
    answers: { 'order/ship': [refuses()] },
    events: [at(15, cancels())],
  }),
  scenario('a fault in a handler goes to the next outer handler', clumsy, ['AddressInvalid', 'Order In Error'], {
    answers: { 'order/pay/charge': [refuses()], 'order/pay/on-CardDeclined/return': [refuses()] },
  }),
  scenario('a branch fails while another one is running', pair, ['CancelRequested', 'compensated'], {
    answers: { 'order/charge': [refuses(1)], 'order/reserve': [done(3)] },
  }),
  scenario('a branch fails when the other one is done', pair, ['stock.release', 'compensated'], {
    answers: { 'order/charge': [refuses(3)], 'order/reserve': [done(1)] },
  }),
  scenario('a canceled branch sends no reply, and its effect is confirmed', pair, ['CancelRequested', 'compensated'], {
    answers: { 'order/charge': [refuses(1)], 'order/reserve': [doneInSilence()] },
  }),
  scenario('both branches fail, and nothing was done', pair, ['FaultHandled', 'rejected'], {
    answers: { 'order/charge': [refuses(1)], 'order/reserve': [refuses(2)] },
  }),
  scenario('an undo has a transient failure', sale, ['UndoFailed', 'compensated'], {
    answers: { 'order/retry/charge': [refuses()], 'order/reserve/undo': [fails(), fails()] },
    lastsSeconds: 120,
  }),
  scenario(
    'an undo has a permanent failure, and a person marks it as done',
    sale,
    ['Compensation Stuck', 'MarkedCompensated', 'compensated'],
    {
      answers: { 'order/retry/charge': [refuses()], 'order/reserve/undo': Array.from({ length: 8 }, () => failsForGood()) },
      events: [at(60, marks('order/reserve'))],
      lastsSeconds: 90,
    },
  ),
  scenario('an undo gets no reply', sale, ['compensated'], {
    answers: { 'order/retry/charge': [refuses()], 'order/reserve/undo': [silent()] },
    lastsSeconds: 90,
  }),
  scenario('the request of an undo is lost', sale, ['compensated'], {
    answers: { 'order/retry/charge': [refuses()] },
    mail: [lost('request', 'order/reserve/undo')],
    lastsSeconds: 90,
  }),
  scenario('a refused step is requested again after a resubmission', sale, ['OrderUnblocked', 'completed'], {
    answers: { 'order/ship': [refuses()] },
    events: [at(10, resubmits())],
  }),
];
