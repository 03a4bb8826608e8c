import { at, crashes, done, late, lost, posts, refuses, type Scenario, scenario, twice } from '../scenario.ts';
import { approval, pair, sale } from '../workflows.ts';

/** Messages that are duplicated, late, reordered or unreadable. */
export const messages: readonly Scenario[] = [
  scenario('every first message of a step is delivered twice', sale, 'completed', {
    mail: [
      twice('request', 'order/reserve'),
      twice('reply', 'order/reserve'),
      twice('request', 'order/ship'),
      twice('reply', 'order/ship'),
    ],
  }),
  scenario('a reply is delivered again when its order is finished', sale, 'completed', { mail: [twice('reply', 'order/reserve', 30)] }),
  scenario('a request is delivered again after its time limit', sale, 'completed', { mail: [twice('request', 'order/reserve', 20)] }),
  scenario('replies overtake each other', pair, ['stock.release', 'compensated'], {
    answers: { 'order/charge': [refuses(1)], 'order/reserve': [done(2)] },
    mail: [late(4, 'reply', 'order/charge')],
  }),
  scenario('the reply to an undo is delivered twice', sale, ['compensated'], {
    answers: { 'order/retry/charge': [refuses()] },
    mail: [twice('reply', 'order/reserve/undo', 2)],
  }),
  scenario('a request is so late that the step is requested again', sale, ['DeadlineExpired', 'completed'], {
    mail: [late(12, 'request', 'order/ship')],
  }),
  scenario('a request is canceled before it arrives', pair, ['CancelRequested', 'compensated'], {
    answers: { 'order/charge': [refuses(1)] },
    mail: [late(6, 'request', 'order/reserve')],
  }),
  scenario('a cancellation is lost', pair, ['CancelRequested', 'compensated'], {
    answers: { 'order/charge': [refuses(1)], 'order/reserve': [done(4)] },
    mail: [lost('cancel', 'order/reserve')],
  }),
  scenario('wake-ups are lost', approval, ['NoSignal', 'compensated'], {
    mail: [lost('wake-up'), lost('wake-up'), lost('wake-up')],
    lastsSeconds: 180,
  }),
  scenario(
    'an unreadable message is dead-lettered, and delays no other message',
    sale,
    ['dead-lettered', 'Message Dead-Lettered', 'completed'],
    {
      events: [at(2.2, posts('stock-replies', 'nonsense')), at(2.3, posts('bank-requests', '{"v":1,"type":"request"}'))],
      lastsSeconds: 400,
    },
  ),
  scenario('an unreadable submission is dead-lettered at once', sale, ['dead-lettered', 'completed'], {
    events: [at(1, posts('submissions', '{"v":1,"type":"submission","client":"client"}'))],
  }),
  scenario('hosts crash one after the other', sale, ['DeadlineExpired', 'completed'], {
    events: [at(1.5, crashes), at(14, crashes), at(28, crashes)],
    lastsSeconds: 120,
  }),
];
