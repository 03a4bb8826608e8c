import { at, cancels, crashes, done, refuses, type Scenario, scenario, silent } from '../scenario.ts';
import { items, lines, search, turns, ways } from '../workflows.ts';

/** Loops, choices, variables, and data larger than one item. */
export const roundabout: readonly Scenario[] = [
  scenario('an order without entries', lines, 'completed', { order: items() }),
  scenario('two entries at a time', lines, ['order/items[4]', 'completed'], { order: items('a', 'b', 'c', 'd', 'e') }),
  scenario('an entry is refused: the others are undone', lines, ['stock.release', 'compensated'], {
    order: items('a', 'b', 'c', 'd', 'e'),
    answers: { 'order/items[3]/reserve': [refuses()] },
  }),
  scenario('so many entries that the undo list is paged out', lines, ['order/items[39]', 'stock.release', 'compensated'], {
    order: items(...Array.from({ length: 40 }, (_, index) => `entry ${index}`)),
    answers: { 'order/items[39]/reserve': [refuses()] },
    lastsSeconds: 120,
  }),
  scenario('the host crashes during a loop over many entries', lines, ['DeadlineExpired', 'completed'], {
    order: items(...Array.from({ length: 12 }, (_, index) => `entry ${index}`)),
    events: [at(3.5, crashes)],
    lastsSeconds: 90,
  }),
  scenario('the first entry that succeeds ends the loop', search, ['CancelRequested', 'completed'], {
    order: items('a', 'b', 'c'),
    answers: { 'order/items[0]/reserve': [done(3)], 'order/items[1]/reserve': [done(1)], 'order/items[2]/reserve': [done(5)] },
    lastsSeconds: 90,
  }),
  scenario('a loop makes one turn after the other', turns, ['order/while[2]', 'completed'], { order: { times: 3 } }),
  scenario('a loop exceeds its maximum number of turns', turns, ['TooManyTurns', 'Order In Error'], { order: { times: 4 } }),
  scenario('an order is canceled between two turns', turns, ['canceled'], { order: { times: 3 }, events: [at(2.4, cancels())] }),
  scenario('a choice takes the first branch whose condition holds', ways, ['bank.charge', 'completed'], { order: { amount: 50 } }),
  scenario('a branch terminates the order', ways, ['terminated'], { order: { amount: 20 } }),
  scenario('a branch raises a fault', ways, ['NotEnough', 'Order In Error'], { order: { amount: 0 } }),
  scenario('a choice takes its default branch if no condition holds', ways, ['mail.tell', 'completed'], { order: { amount: 5 } }),
  scenario('a function of the app fails', ways, ['ComputeFailed', 'Order In Error'], { order: { amount: -1 } }),
  scenario('an order does not fit the schema of its workflow', ways, ['submitted: invalid'], { order: { amount: 'much' } }),
  scenario('one of several entries is late', lines, ['DeadlineExpired', 'completed'], {
    order: items('a', 'b', 'c'),
    answers: { 'order/items[1]/reserve': [silent()] },
  }),
];
