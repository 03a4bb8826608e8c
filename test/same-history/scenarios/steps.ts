import {
  at,
  crashes,
  done,
  doneButFails,
  doneInSilence,
  fails,
  failsForGood,
  large,
  late,
  lost,
  nonsense,
  refuses,
  type Scenario,
  scenario,
  silent,
} from '../scenario.ts';
import { again, hasty, printing, sale, strict, wary, whole } from '../workflows.ts';

/** Steps that succeed, fail, or do not answer. */
export const steps: readonly Scenario[] = [
  scenario('all steps complete', sale, '"outcome":"completed"'),
  scenario('a step has two transient failures', sale, ['"attempt":2', 'completed'], {
    answers: { 'order/retry/charge': [fails(), fails()] },
  }),
  scenario(
    'a step has more transient failures than its retry has runs: the order is blocked at once, with that fault',
    sale,
    ['RunFailed', 'OrderBlocked', 'Order In Error'],
    {
      answers: { 'order/retry/charge': [fails(), fails(), fails()] },
    },
  ),
  scenario('an effect without a reply is not repeated', sale, ['DeadlineExpired', 'completed'], {
    answers: { 'order/ship': [doneInSilence()] },
  }),
  scenario('a service answers after the time limit', sale, ['DeadlineExpired', 'completed'], {
    answers: { 'order/reserve': [done(14)] },
  }),
  scenario('a service gives no answer once', sale, ['DeadlineExpired', 'completed'], { answers: { 'order/reserve': [silent()] } }),
  scenario('a service never answers, and a person is notified', sale, ['ThresholdExceeded', 'Order In Error'], {
    answers: { 'order/reserve': [silent(), silent(), silent(), silent(), silent()] },
    lastsSeconds: 90,
  }),
  scenario('a step that exceeds its failure limit has a fault, with onExhausted fault', strict, ['DeadlineExceeded', 'compensated'], {
    answers: { 'order/charge': [silent(), silent()] },
  }),
  scenario(
    'an order that exceeds its failure limit is compensated, with onExhausted undo',
    wary,
    ['UndoFailed', 'stock.release', '"outcome":"compensated"'],
    {
      answers: { 'order/charge': [silent(), silent(), silent()] },
      lastsSeconds: 90,
    },
  ),
  scenario('an order is reset as a whole and claimed again', whole, ['OrderReset', '"epoch":3', 'completed'], {
    answers: { 'order/charge': [silent()] },
  }),
  scenario('an order is reset as a whole until it exceeds its failure limit', whole, ['ThresholdExceeded', 'Order In Error'], {
    answers: { 'order/charge': [silent(), silent(), silent()] },
    variables: { MAX_FAILURES: '1' },
  }),
  scenario('the time limit of the whole order passes', hasty, ['DeadlineExceeded', 'Order In Error'], {
    answers: { 'order/charge': [done(6)] },
  }),
  scenario('a service gives an invalid answer', sale, ['InvalidReply', 'Order In Error'], { answers: { 'order/ship': [nonsense()] } }),
  scenario('a service gives an answer that exceeds the size limit', sale, 'TooLarge', { answers: { 'order/ship': [large()] } }),
  scenario('a service has a permanent failure with an undeclared name', sale, ['TooLate', 'Order In Error'], {
    answers: { 'order/ship': [failsForGood()] },
  }),
  scenario('long work extends its deadline', printing, ['StepExtended', 'completed'], { answers: { 'order/print': [done(24)] } }),
  scenario('long work exceeds its maximum time', printing, ['StepExtended', 'DeadlineExpired'], {
    answers: { 'order/print': [done(60)] },
    lastsSeconds: 90,
  }),
  scenario('a run is undone before the next one', again, ['RunFailed', 'bank.charge the-order', 'completed'], {
    answers: { 'order/all/sequence/charge': [refuses()] },
  }),
  scenario('no run succeeds', again, ['RunFailed', '/reserve/undo/3', 'compensated'], {
    answers: { 'order/all/sequence/charge': [refuses(), refuses(), refuses()] },
  }),
  scenario('a service reports a failure after the effect', sale, ['RunFailed', 'completed'], {
    answers: { 'order/retry/charge': [doneButFails()] },
  }),
  scenario('a request is lost', sale, ['DeadlineExpired', 'completed'], { mail: [lost('request', 'order/ship')] }),
  scenario('a reply is lost', sale, ['DeadlineExpired', 'completed'], { mail: [lost('reply', 'order/ship')] }),
  scenario('a reply arrives after the step was requested again', sale, ['DeadlineExpired', 'completed'], {
    mail: [late(13, 'reply', 'order/ship')],
  }),
  scenario('the host crashes while a step is running', sale, ['DeadlineExpired', 'completed'], { events: [at(1.5, crashes)] }),
];
