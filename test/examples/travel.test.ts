import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { check, defineApp } from 'redress';
import { given, instruct, rehearse } from 'redress/testing';
import { car, flight, hotel, post, visaOffice } from '../../examples/travel/agents.ts';
import app from '../../examples/travel/app.ts';
import { NoCar, NoRoom } from '../../examples/travel/faults.ts';
import { GroupTrip, Trip } from '../../examples/travel/order.ts';
import { bookGroup, bookTrip, visa, visaByTelephone } from '../../examples/travel/workflow.ts';
import { reaches, started, stepsIn, submitted } from '../roles/support.ts';

const samples = new URL('../../examples/travel/samples/', import.meta.url);
const sample = (name: string) => JSON.parse(readFileSync(new URL(`${name}.json`, samples), 'utf8'));
const [lisbon, delhi, group] = ['ok', 'visa', 'group'].map((name) => sample(name).order);

describe('a journey, rehearsed', () => {
  test('flight, hotel and car are booked side by side', () => {
    assert.equal(rehearse(bookTrip, lisbon).story(), 'flight.book ok, hotel.book ok, car.book ok, post.tell ok, completed');
    assert.deepEqual(rehearse(bookTrip, lisbon).steps[1]?.input, { name: 'Nellie Bly', city: 'Lisbon', nights: 7 });
  });

  test('F-100: without a car, hotel and flight are canceled, newest first, and the traveler is notified', () => {
    const run = rehearse(bookTrip, lisbon, given(car.book).faults(NoCar, 'There are no cars left.'));
    assert.equal(
      run.story(),
      'flight.book ok, hotel.book ok, car.book NoCar, hotel.cancel ok, flight.cancel ok, post.tell ok, compensated',
    );
    assert.partialDeepStrictEqual(run.steps.at(-1)?.input, {
      text: 'Nellie Bly, we have canceled your journey to Lisbon. There are no cars left.',
    });
  });

  test('F-44: a slow booking of a car is requested again', () => {
    const slow = rehearse(bookTrip, lisbon, given(car.book).takes(40).once());
    assert.equal(slow.story(), 'flight.book ok, hotel.book ok, car.book silent, car.book ok, post.tell ok, completed');
  });

  test('F-170, F-60: a traveler cancels while a car is being booked, no reply comes, and an operator resubmits the step', () => {
    const canceled = rehearse(bookTrip, lisbon, given(car.book).takes(20), instruct({ kind: 'cancel' }, { atSeconds: 5 }));
    assert.equal(
      canceled.story(),
      'flight.book ok, hotel.book ok, instruction cancel, car.book ok, car.cancel ok, hotel.cancel ok, flight.cancel ok, canceled',
    );
    const resubmitted = rehearse(bookTrip, lisbon, given(hotel.book).isSilent(4), instruct({ kind: 'resubmit' }));
    assert.equal(resubmitted.outcome, 'completed');
  });

  test('the visa office says yes after five days', () => {
    const run = rehearse(bookTrip, delhi, given(visa).comes({ granted: true }, { afterSeconds: 5 * 86_400 }));
    assert.equal(run.story(), 'flight.book ok, hotel.book ok, car.book ok, visa-office.apply ok, signal visa ok, post.tell ok, completed');
    assert.equal(run.tookMs, 5 * 86_400_000);
  });

  test('the visa office says no: everything is undone, the application first', () => {
    const run = rehearse(bookTrip, delhi, given(visa).comes({ granted: false }));
    assert.deepEqual(run.undone, ['order/choice/visa-check/apply', 'order/bookings/car', 'order/bookings/hotel', 'order/bookings/flight']);
    assert.equal(run.outcome, 'compensated');
  });

  test('the visa office is silent: after ten days the order asks a person, who calls the office', () => {
    const waiting = rehearse(bookTrip, delhi);
    assert.match(waiting.story(), /, signal visa NoSignal, blocked for the question visa-by-telephone$/);
    assert.equal(waiting.fault?.message, 'The visa office has said nothing for ten days. May Ibn Battuta go to Delhi?');
    assert.equal(waiting.tookMs, 10 * 86_400_000);

    const answered = rehearse(bookTrip, delhi, given(visaByTelephone).answers({ granted: true }, { afterSeconds: 3600 }));
    assert.match(answered.story(), /, question visa-by-telephone ok, post.tell ok, completed$/);
  });
});

describe('a group, rehearsed', () => {
  test('each traveler has an order of their own', () => {
    const { story, steps } = rehearse(bookGroup, group);
    assert.match(story(), /, book-trip > post.tell ok, book-trip ok, book-trip ok, completed$/);
    assert.equal(steps.filter(({ operation }) => operation === 'hotel.book').length, 2);
  });

  test('if one traveler cannot go, the journeys of the others are undone', () => {
    const second = 'order/travellers[1]/book-trip > order/bookings/hotel';
    const run = rehearse(bookGroup, group, given(hotel.book).faults(NoRoom).at(second));
    assert.match(
      run.story(),
      /book-trip ChildNotCompleted, .*, book-trip > flight.cancel ok, book-trip undone, post.tell ok, compensated$/,
    );
    assert.deepEqual(
      run.leftDone.filter((path) => path.includes('bookings')),
      [],
    );
  });
});

test('a journey ends as its workflow says with every possible failure', () => {
  const granted = given(visa).comes({ granted: true });

  assert.equal(
    rehearse.every(bookTrip, delhi, granted).table(),
    `\
step                                                      fault                                                         outcome                       undone                           left done
--------------------------------------------------------  ------------------------------------------------------------  ----------------------------  -------------------------------  --------------------------------------------------------------------------------
nothing goes wrong                                                                                                      completed                                                      bookings/flight, bookings/hotel, bookings/car, choice/visa-check/apply, confirm
bookings/flight                                           NoSeat                                                        compensated                   bookings/hotel, bookings/car     on-Refused/apologise
bookings/flight                                           silence                                                       blocked for DeadlineExceeded                                   bookings/flight?, bookings/hotel, bookings/car
bookings/flight                                           outcome unknown                                               blocked for InvalidReply                                       bookings/flight?, bookings/hotel, bookings/car
bookings/hotel                                            NoRoom                                                        compensated                   bookings/car, bookings/flight    on-Refused/apologise
bookings/hotel                                            silence                                                       blocked for DeadlineExceeded                                   bookings/flight, bookings/hotel?, bookings/car
bookings/hotel                                            outcome unknown                                               blocked for InvalidReply                                       bookings/flight, bookings/hotel?, bookings/car
bookings/car                                              NoCar                                                         compensated                   bookings/hotel, bookings/flight  on-Refused/apologise
bookings/car                                              silence                                                       blocked for DeadlineExceeded                                   bookings/flight, bookings/hotel, bookings/car?
bookings/car                                              outcome unknown                                               blocked for InvalidReply                                       bookings/flight, bookings/hotel, bookings/car?
choice/visa-check/apply                                   silence                                                       blocked for DeadlineExceeded                                   bookings/flight, bookings/hotel, bookings/car, choice/visa-check/apply?
choice/visa-check/apply                                   outcome unknown                                               blocked for InvalidReply                                       bookings/flight, bookings/hotel, bookings/car, choice/visa-check/apply?
confirm                                                   silence                                                       blocked for DeadlineExceeded                                   bookings/flight, bookings/hotel, bookings/car, choice/visa-check/apply, confirm?
confirm                                                   outcome unknown                                               blocked for InvalidReply                                       bookings/flight, bookings/hotel, bookings/car, choice/visa-check/apply, confirm?
choice/visa-check/decision/visa                           NoSignal                                                      completed                                                      bookings/flight, bookings/hotel, bookings/car, choice/visa-check/apply, confirm
bookings/hotel/undo                                       silence, after NoSeat at bookings/flight                      stuck                         bookings/car                     bookings/hotel
bookings/car/undo                                         silence, after NoSeat at bookings/flight                      stuck                         bookings/hotel                   bookings/car
on-Refused/apologise                                      silence, after NoSeat at bookings/flight                      blocked for DeadlineExceeded  bookings/hotel, bookings/car     on-Refused/apologise?
on-Refused/apologise                                      outcome unknown, after NoSeat at bookings/flight              blocked for InvalidReply      bookings/hotel, bookings/car     on-Refused/apologise?
bookings/flight/undo                                      silence, after NoRoom at bookings/hotel                       stuck                         bookings/car                     bookings/flight
choice/visa-check/decision/on-NoSignal/visa-by-telephone  no answer, after NoSignal at choice/visa-check/decision/visa  blocked for an answer                                          bookings/flight, bookings/hotel, bookings/car, choice/visa-check/apply

Never asked for: choice/visa-check/apply/undo.
`,
  );
});

test('F-99: the workflows have no problems, and declare that a message to a traveler is not undone', () => {
  assert.deepEqual(
    [bookTrip, bookGroup].flatMap((workflow) => check(workflow)),
    [],
  );
});

test('every sample is a valid order of its workflow', () => {
  for (const file of readdirSync(samples)) {
    const { order, workflow = 'book-trip' } = sample(file.replace('.json', ''));
    assert.deepEqual((workflow === 'book-trip' ? Trip : GroupTrip).parse(order), order);
    assert.ok(app.workflows.some(({ name }) => name === workflow));
  }
});

describe('a journey through the whole system', () => {
  const oneTrip = defineApp({ workflows: [bookTrip], agents: [flight, hotel, car, visaOffice, post] });

  test('F-100: it is booked, or undone if there is no room', async (context) => {
    const system = await started(context, oneTrip);
    const [good, bad] = [await submitted(system, lisbon), await submitted(system, sample('no-room').order)];
    await reaches(system, good, 'Processed');
    await reaches(system, bad, 'Processed');
    assert.deepEqual([(await system.state(good)).outcome, (await system.state(bad)).outcome], ['completed', 'compensated']);
    const steps = await stepsIn({ store: system.store, system: system.host.system }, bad);
    assert.deepEqual(
      steps.filter(({ path, result }) => result === 'Succeeded' && !path.endsWith('/undo')).map(({ path }) => path),
      ['order/on-Refused/apologise'],
    );
  });
});
