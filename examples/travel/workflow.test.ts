import { expect, test } from '@jest/globals';
import { crashTest, given, rehearse } from 'redress/testing';
import { car, flight, hotel, post, visaOffice } from './agents.ts';
import { NoCar, NoRoom } from './faults.ts';
import group from './samples/group.json' with { type: 'json' };
import lisbon from './samples/ok.json' with { type: 'json' };
import delhi from './samples/visa.json' with { type: 'json' };
import { bookGroup, bookTrip, visa, visaByTelephone } from './workflow.ts';

const agents = [flight, hotel, car, visaOffice, post];
const day = 86_400;

test('without a car, hotel and flight are canceled, newest first, and the traveler is notified', () => {
  const run = rehearse(bookTrip, lisbon.order, given(car.book).faults(NoCar, 'There are no cars left.'));
  expect(run.story()).toBe('flight.book ok, hotel.book ok, car.book NoCar, hotel.cancel ok, flight.cancel ok, post.tell ok, compensated');
  expect(run.steps.at(-1)?.input).toMatchObject({ text: 'Nellie Bly, we have canceled your journey to Lisbon. There are no cars left.' });
});

test('a journey waits days for its visa, and is undone if the visa is refused', () => {
  const granted = rehearse(bookTrip, delhi.order, given(visa).comes({ granted: true }, { afterSeconds: 5 * day }));
  expect(granted).toMatchObject({ outcome: 'completed', tookMs: 5 * day * 1000 });

  const refused = rehearse(bookTrip, delhi.order, given(visa).comes({ granted: false }));
  expect(refused.outcome).toBe('compensated');
  expect(refused.leftDone).toEqual(['order/on-Refused/apologise']);
});

test('if the visa office says nothing for ten days, an operator calls it', () => {
  const waiting = rehearse(bookTrip, delhi.order);
  expect(waiting).toMatchObject({ outcome: 'blocked', tookMs: 10 * day * 1000 });

  const answered = rehearse(bookTrip, delhi.order, given(visaByTelephone).answers({ granted: true }));
  expect(answered.outcome).toBe('completed');
});

test('if one traveler of a group cannot go, the journeys of the others are undone', () => {
  const second = 'order/travellers[1]/book-trip > order/bookings/hotel';
  const run = rehearse(bookGroup, group.order, given(hotel.book).faults(NoRoom).at(second));
  expect(run.outcome).toBe('compensated');
  expect(run.leftDone.filter((path) => path.includes('bookings'))).toEqual([]);
});

test('a journey completes at whichever call the process crashes', async () => {
  const { runs, outcomes } = await crashTest(bookTrip, agents, { order: delhi.order, stubs: given(visa).comes({ granted: true }) });
  expect(outcomes).toEqual({ completed: runs });
});
