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
  scenario('it was done, and the service can tell', entry, ['ledger.enter', 'completed'], {
    answers: { 'order/enter': [doneInSilence()] },
  }),
  scenario('it was not done: a person is told, since it may be on its way', entry, ['OutcomeUnknown', 'Order In Error'], {
    answers: { 'order/enter': [silent()] },
    lastsSeconds: 90,
  }),
  scenario('it says that it failed: the service is asked whether it was done', entry, ['Outcome'], {
    answers: { 'order/enter': [doneButFails()] },
    lastsSeconds: 90,
  }),
  scenario('it fails before anything was done', entry, ['Outcome'], { answers: { 'order/enter': [fails()] }, lastsSeconds: 90 }),
  scenario('it was done before the host died', entry, ['completed'], {
    answers: { 'order/enter': [done(4)] },
    events: [at(3, crashes)],
    lastsSeconds: 90,
  }),
  scenario('it is undone when a later step is refused', entry, ['ledger.strike', 'compensated'], {
    answers: { 'order/charge': [refuses()] },
  }),
  scenario('nobody can tell whether it was done', letter, ['OutcomeUnknown'], {
    answers: { 'order/post': [doneButFails()] },
    lastsSeconds: 90,
  }),
  scenario('nobody hears of it', letter, ['OutcomeUnknown'], { answers: { 'order/post': [doneInSilence()] }, lastsSeconds: 90 }),
  scenario('nobody hears of it, and the order is canceled', letter, ['cancel'], {
    answers: { 'order/post': [doneInSilence()] },
    events: [at(4, cancels())],
    lastsSeconds: 120,
  }),
  scenario('nobody can tell, and a person resubmits', letter, ['resubmit'], {
    answers: { 'order/post': [doneInSilence()] },
    events: [at(60, resubmits())],
    lastsSeconds: 120,
  }),
];
