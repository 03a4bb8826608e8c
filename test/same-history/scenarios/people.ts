import {
  answers,
  at,
  cancels,
  compensates,
  crashes,
  done,
  marks,
  refuses,
  resubmits,
  resubmitsFor,
  type Scenario,
  scenario,
  signals,
  silent,
  submitsAgain,
  terminates,
} from '../scenario.ts';
import { approval, hasty, pair, question, sale } from '../workflows.ts';

const agreed = { by: 'otto' };

/** Actions of clients and operators, in time and too late. */
export const people: readonly Scenario[] = [
  scenario('a client cancels while a step is running', sale, ['CancelRequested', 'canceled'], { events: [at(2.5, cancels())] }),
  scenario('a client cancels while two branches are running', pair, ['CancelRequested', 'canceled'], {
    answers: { 'order/charge': [done(3)], 'order/reserve': [done(4)] },
    events: [at(1, cancels())],
  }),
  scenario('a client cancels a completed order', sale, 'cancel: infeasible', { events: [at(20, cancels())] }),
  scenario('a client cancels twice', sale, ['cancel: done', 'canceled'], { events: [at(2.5, cancels()), at(2.7, cancels())] }),
  scenario('a client submits again', sale, ['submitted again: accepted', 'completed'], {
    events: [at(2, submitsAgain()), at(30, submitsAgain())],
  }),
  scenario('a client submits something else under the same key', sale, ['submitted again: key-reused'], {
    events: [at(2, submitsAgain({ item: 'coffee' }))],
  }),
  scenario('an order in Error is canceled', sale, ['OrderBlocked', 'canceled'], {
    answers: { 'order/ship': [refuses()] },
    events: [at(10, cancels())],
  }),
  scenario('an operator compensates an order', sale, ['OrderBlocked', '"outcome":"compensated"'], {
    answers: { 'order/ship': [refuses()] },
    events: [at(10, compensates())],
  }),
  scenario('an operator terminates an order', sale, ['OrderBlocked', 'terminated'], {
    answers: { 'order/ship': [refuses()] },
    events: [at(10, terminates())],
  }),
  scenario('an operator resubmits an order twice, the first time without success', sale, ['"errorGen":2', 'completed'], {
    answers: { 'order/ship': [refuses(), refuses()] },
    events: [at(10, resubmits()), at(20, resubmits())],
  }),
  scenario('an operator resubmits a step that exceeded its failure limit', sale, ['ThresholdExceeded', 'OrderUnblocked', 'completed'], {
    answers: { 'order/reserve': [silent(), silent()] },
    variables: { MAX_FAILURES: '1' },
    events: [at(40, resubmits())],
    lastsSeconds: 90,
  }),
  scenario('an operator extends the time limit of an order', hasty, ['OrderUnblocked', 'completed'], {
    answers: { 'order/charge': [done(6)] },
    events: [at(20, resubmits()), at(21, resubmitsFor(60))],
  }),
  scenario('an operator gives instructions to a running order', sale, ['resubmit: infeasible', 'mark-compensated: infeasible'], {
    events: [at(2.5, resubmits()), at(2.7, marks())],
  }),
  scenario('a signal arrives in time', approval, ['SignalReceived', 'completed'], { events: [at(8, signals('approved', agreed))] }),
  scenario('a signal arrives before a step waits for it', approval, ['SignalReceived', 'completed'], {
    events: [at(0.5, signals('approved', agreed))],
  }),
  scenario('a signal does not arrive', approval, ['NoSignal', 'compensated']),
  scenario('a signal arrives too late', approval, ['NoSignal', 'signal: infeasible'], { events: [at(40, signals('approved', agreed))] }),
  scenario('a signal with an invalid payload is refused', approval, ['signal: invalid'], {
    events: [at(5, signals('approved', { who: 1 })), at(6, signals('denied', agreed))],
  }),
  scenario('the host crashes while an order waits for a signal', approval, ['SignalReceived', 'completed'], {
    events: [at(5, crashes), at(9, signals('approved', agreed))],
  }),
  scenario('a person answers yes', question, ['OperatorAsked', 'completed'], { events: [at(9, answers({ yes: true }))] }),
  scenario('a person answers no', question, ['OperatorAsked', 'compensated'], { events: [at(9, answers({ yes: false }))] }),
  scenario('a person gives an invalid answer', question, ['resubmit: invalid', 'Error'], { events: [at(9, answers({ perhaps: 1 }))] }),
  scenario('an order with a question is canceled', question, ['OperatorAsked', 'canceled'], { events: [at(9, cancels())] }),
];
