import {
  at,
  cancels,
  compensates,
  crashes,
  done,
  lost,
  refuses,
  resubmits,
  type Scenario,
  scenario,
  silent,
  terminates,
  twice,
} from '../scenario.ts';
import { journey, stay, trip } from '../workflows.ts';

const called = 'order/stay';

/** Orders that call others. */
export const calls: readonly Scenario[] = [
  scenario('a called order completes', [trip, stay], ['child-1 stay@1', 'completed']),
  scenario('a called order fails with a fault for its caller', [trip, stay], ['rejected', 'compensated'], {
    answers: { 'order/night': [refuses()] },
  }),
  scenario('a called order is undone after its completion', [trip, stay], ['child-1/order/night/undo', 'compensated'], {
    answers: { 'order/charge': [refuses()] },
  }),
  scenario('a called order is canceled because a sibling of the call fails', [journey, stay], ['child-1/order/night/undo', 'rejected'], {
    answers: { 'order/charge': [refuses(1.5)], 'order/night': [done(4)] },
  }),
  scenario('the caller is canceled', [trip, stay], ['CancelRequested', 'canceled'], { events: [at(2.6, cancels())] }),
  scenario('a called order is blocked, and a person compensates it', [trip, stay], ['Order In Error', 'ChildNotCompleted'], {
    answers: { 'order/welcome': [silent(), silent(), silent()] },
    variables: { MAX_FAILURES: '1' },
    events: [at(40, compensates(called))],
    lastsSeconds: 90,
  }),
  scenario('a called order is blocked, and a person resubmits it', [trip, stay], ['Order In Error', 'completed'], {
    answers: { 'order/welcome': [silent(), silent()] },
    variables: { MAX_FAILURES: '1' },
    events: [at(40, resubmits(called))],
    lastsSeconds: 90,
  }),
  scenario('a called order is terminated by a person', [trip, stay], ['terminated'], {
    answers: { 'order/welcome': [silent(), silent(), silent()] },
    variables: { MAX_FAILURES: '1' },
    events: [at(40, terminates(called))],
    lastsSeconds: 90,
  }),
  scenario('the request of a call is delivered twice', [trip, stay], ['child-1 stay@1', 'completed'], { mail: [twice('request', called)] }),
  scenario('the reply to a call is delivered twice', [trip, stay], ['completed'], { mail: [twice('reply', called, 3)] }),
  scenario('the request of a call is lost', [trip, stay], ['completed'], { mail: [lost('request', called)], lastsSeconds: 1000 }),
  scenario('the host crashes while a called order is running', [trip, stay], ['DeadlineExpired', 'completed'], {
    events: [at(2.6, crashes)],
    lastsSeconds: 90,
  }),
];
