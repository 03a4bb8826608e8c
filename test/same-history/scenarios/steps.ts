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
  scenario('all steps are done', sale, '"outcome":"completed"'),
  scenario('a step fails for now, twice', sale, ['"attempt":2', 'completed'], { answers: { 'order/retry/charge': [fails(), fails()] } }),
  scenario(
    'a step fails for now more often than it is run: the order is blocked at once, with that fault',
    sale,
    ['RunFailed', 'OrderBlocked', 'Order In Error'],
    {
      answers: { 'order/retry/charge': [fails(), fails(), fails()] },
    },
  ),
  scenario('an effect without an answer is not done a second time', sale, ['DeadlineExpired', 'completed'], {
    answers: { 'order/ship': [doneInSilence()] },
  }),
  scenario('a service answers when its time is over', sale, ['DeadlineExpired', 'completed'], {
    answers: { 'order/reserve': [done(14)] },
  }),
  scenario('a service is silent once', sale, ['DeadlineExpired', 'completed'], { answers: { 'order/reserve': [silent()] } }),
  scenario('a service is silent for good: a person is told', sale, ['ThresholdExceeded', 'Order In Error'], {
    answers: { 'order/reserve': [silent(), silent(), silent(), silent(), silent()] },
    lastsSeconds: 90,
  }),
  scenario('a step that is late for good faults, where its workflow says so', strict, ['DeadlineExceeded', 'compensated'], {
    answers: { 'order/charge': [silent(), silent()] },
  }),
  scenario(
    'an order that is late for good is undone, where its workflow says so',
    wary,
    ['UndoFailed', 'stock.release', '"outcome":"compensated"'],
    {
      answers: { 'order/charge': [silent(), silent(), silent()] },
      lastsSeconds: 90,
    },
  ),
  scenario('an order is taken up anew as a whole', whole, ['OrderReset', '"epoch":3', 'completed'], {
    answers: { 'order/charge': [silent()] },
  }),
  scenario('an order is taken up anew once too often', whole, ['ThresholdExceeded', 'Order In Error'], {
    answers: { 'order/charge': [silent(), silent(), silent()] },
    variables: { MAX_FAILURES: '1' },
  }),
  scenario('the time of the whole order is over', hasty, ['DeadlineExceeded', 'Order In Error'], {
    answers: { 'order/charge': [done(6)] },
  }),
  scenario('a service answers with something else', sale, ['InvalidReply', 'Order In Error'], { answers: { 'order/ship': [nonsense()] } }),
  scenario('a service answers with more than can be kept', sale, 'TooLarge', { answers: { 'order/ship': [large()] } }),
  scenario('a service fails for good, by a name that nobody knows', sale, ['TooLate', 'Order In Error'], {
    answers: { 'order/ship': [failsForGood()] },
  }),
  scenario('long work asks for more time', printing, ['StepExtended', 'completed'], { answers: { 'order/print': [done(24)] } }),
  scenario('long work takes longer than it may', printing, ['StepExtended', 'DeadlineExpired'], {
    answers: { 'order/print': [done(60)] },
    lastsSeconds: 90,
  }),
  scenario('a run is undone before the next one', again, ['RunFailed', 'bank.charge the-order', 'completed'], {
    answers: { 'order/all/sequence/charge': [refuses()] },
  }),
  scenario('no run succeeds', again, ['RunFailed', '/reserve/undo/3', 'compensated'], {
    answers: { 'order/all/sequence/charge': [refuses(), refuses(), refuses()] },
  }),
  scenario('a service does it and says that it failed', sale, ['RunFailed', 'completed'], {
    answers: { 'order/retry/charge': [doneButFails()] },
  }),
  scenario('a request is lost', sale, ['DeadlineExpired', 'completed'], { mail: [lost('request', 'order/ship')] }),
  scenario('a reply is lost', sale, ['DeadlineExpired', 'completed'], { mail: [lost('reply', 'order/ship')] }),
  scenario('a reply comes when the step was asked again', sale, ['DeadlineExpired', 'completed'], {
    mail: [late(13, 'reply', 'order/ship')],
  }),
  scenario('the host dies while a step is at work', sale, ['DeadlineExpired', 'completed'], { events: [at(1.5, crashes)] }),
];
