import {
  at,
  cancels,
  crashes,
  done,
  doneButFails,
  doneInSilence,
  fails,
  refuses,
  resubmits,
  type Scenario,
  scenario,
  silent,
} from '../scenario.ts';
import { entry, letter } from '../workflows.ts';

/** At-most-once steps with an unknown outcome. */
export const unknown: readonly Scenario[] = [
  scenario('at-most-once step: it was done, and the lookup finds the effect', entry, ['ledger.enter', 'completed'], {
    answers: { 'order/enter': [doneInSilence()] },
  }),
  scenario(
    'at-most-once step: the lookup finds nothing, and a person is notified, because the effect may still happen',
    entry,
    ['OutcomeUnknown', 'Order In Error'],
    {
      answers: { 'order/enter': [silent()] },
      lastsSeconds: 90,
    },
  ),
  scenario('at-most-once step: a failure is confirmed by a lookup', entry, ['Outcome'], {
    answers: { 'order/enter': [doneButFails()] },
    lastsSeconds: 90,
  }),
  scenario('at-most-once step: it fails before its effect', entry, ['Outcome'], {
    answers: { 'order/enter': [fails()] },
    lastsSeconds: 90,
  }),
  scenario('at-most-once step: it was done before the host crashed', entry, ['completed'], {
    answers: { 'order/enter': [done(4)] },
    events: [at(3, crashes)],
    lastsSeconds: 90,
  }),
  scenario('at-most-once step: it is undone when a later step is refused', entry, ['ledger.strike', 'compensated'], {
    answers: { 'order/charge': [refuses()] },
  }),
  scenario('at-most-once step without a lookup: the outcome is unknown', letter, ['OutcomeUnknown'], {
    answers: { 'order/post': [doneButFails()] },
    lastsSeconds: 90,
  }),
  scenario('at-most-once step without a lookup: it is done without a reply', letter, ['OutcomeUnknown'], {
    answers: { 'order/post': [doneInSilence()] },
    lastsSeconds: 90,
  }),
  scenario('at-most-once step without a lookup: it is done without a reply, and the order is canceled', letter, ['cancel'], {
    answers: { 'order/post': [doneInSilence()] },
    events: [at(4, cancels())],
    lastsSeconds: 120,
  }),
  scenario('at-most-once step without a lookup: the outcome is unknown, and a person resubmits the step', letter, ['resubmit'], {
    answers: { 'order/post': [doneInSilence()] },
    events: [at(60, resubmits())],
    lastsSeconds: 120,
  }),
];
