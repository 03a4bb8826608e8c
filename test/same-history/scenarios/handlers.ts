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
  scenario('nobody handles the fault: the order waits for a person', sale, ['AddressInvalid', 'Order In Error'], {
    answers: { 'order/ship': [refuses()] },
  }),
  scenario('the innermost handler that matches takes the fault', scopes, ['order/second', 'mail.tell', 'carrier.ship'], {
    answers: { 'order/second/sequence/charge': [refuses()] },
  }),
  scenario('a scope is undone by its name', scopes, ['bank.refund', 'stock.release'], {
    answers: { 'order/second/sequence/reserve-more': [refuses()] },
  }),
  scenario('scopes are undone newest first', scopes, ['bank.refund', '"outcome":"canceled"'], {
    answers: { 'order/ship': [refuses()] },
    events: [at(15, cancels())],
  }),
  scenario('a handler that fails itself goes to the next one outside', clumsy, ['AddressInvalid', 'Order In Error'], {
    answers: { 'order/pay/charge': [refuses()], 'order/pay/on-CardDeclined/return': [refuses()] },
  }),
  scenario('a branch fails while another one is at work', pair, ['CancelRequested', 'compensated'], {
    answers: { 'order/charge': [refuses(1)], 'order/reserve': [done(3)] },
  }),
  scenario('a branch fails when the other one is done', pair, ['stock.release', 'compensated'], {
    answers: { 'order/charge': [refuses(3)], 'order/reserve': [done(1)] },
  }),
  scenario('a branch that was canceled says nothing: whether it was done is found out', pair, ['CancelRequested', 'compensated'], {
    answers: { 'order/charge': [refuses(1)], 'order/reserve': [doneInSilence()] },
  }),
  scenario('both branches fail, and nothing was done', pair, ['FaultHandled', 'rejected'], {
    answers: { 'order/charge': [refuses(1)], 'order/reserve': [refuses(2)] },
  }),
  scenario('an undo fails for now', sale, ['UndoFailed', 'compensated'], {
    answers: { 'order/retry/charge': [refuses()], 'order/reserve/undo': [fails(), fails()] },
    lastsSeconds: 120,
  }),
  scenario('an undo fails for good: a person has seen to it', sale, ['Compensation Stuck', 'MarkedCompensated', 'compensated'], {
    answers: { 'order/retry/charge': [refuses()], 'order/reserve/undo': Array.from({ length: 8 }, () => failsForGood()) },
    events: [at(60, marks('order/reserve'))],
    lastsSeconds: 90,
  }),
  scenario('an undo says nothing', sale, ['compensated'], {
    answers: { 'order/retry/charge': [refuses()], 'order/reserve/undo': [silent()] },
    lastsSeconds: 90,
  }),
  scenario('the request of an undo is lost', sale, ['compensated'], {
    answers: { 'order/retry/charge': [refuses()] },
    mail: [lost('request', 'order/reserve/undo')],
    lastsSeconds: 90,
  }),
  scenario('resubmitted, the step that was refused is asked anew', sale, ['OrderUnblocked', 'completed'], {
    answers: { 'order/ship': [refuses()] },
    events: [at(10, resubmits())],
  }),
];
