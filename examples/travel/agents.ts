import { type Call, defineAgent, operation } from 'redress';
import * as z from 'zod';
import { NoCar, NoRoom, NoSeat } from './faults.ts';
import { Passport, Text } from './order.ts';

/**
 * Stand-ins for remote services. They store nothing: a booking's id is its idempotency key, so a repeated request gets the same answer.
 * Some places are always full: seats to Atlantis, rooms in Bethlehem, cars in Venice.
 */

const Booking = z.object({ bookingId: Text });
const Nothing = z.object({});
const Days = z.object({ from: z.iso.date(), to: z.iso.date() });

const booking = ({ idempotencyKey }: Pick<Call, 'idempotencyKey'>) => ({ bookingId: `booking-${idempotencyKey}` });
const cancel = operation({ input: Booking, output: Nothing, run: () => ({}) });

export const flight = defineAgent('flight', {
  book: operation({
    input: z.object({ name: Text, passport: Passport, from: Text, to: Text, outward: z.iso.date(), back: z.iso.date() }),
    output: Booking,
    faults: [NoSeat],
    run: ({ to }, call) => (to === 'Atlantis' ? call.failed(NoSeat, 'Nobody flies to Atlantis.') : booking(call)),
  }),
  cancel,
});

export const hotel = defineAgent('hotel', {
  book: operation({
    input: z.object({ name: Text, city: Text, nights: z.int().min(1).max(90) }),
    output: Booking,
    faults: [NoRoom],
    run: ({ city }, call) => (city === 'Bethlehem' ? call.failed(NoRoom, 'There is no room in Bethlehem.') : booking(call)),
  }),
  cancel,
});

export const car = defineAgent('car', {
  book: operation({
    input: z.object({ name: Text, city: Text, days: Days }),
    output: Booking,
    faults: [NoCar],
    run: ({ city }, call) => (city === 'Venice' ? call.failed(NoCar, 'There are no cars in Venice.') : booking(call)),
  }),
  cancel,
});

export const visaOffice = defineAgent('visa-office', {
  apply: operation({
    input: z.object({ name: Text, passport: Passport, country: Text, orderId: Text }),
    output: z.object({ applicationId: Text }),
    run: (_, { idempotencyKey }) => ({ applicationId: `application-${idempotencyKey}` }),
  }),
  withdraw: operation({ input: z.object({ applicationId: Text }), output: Nothing, run: () => ({}) }),
});

export const post = defineAgent('post', {
  tell: operation({ input: z.object({ to: Text, text: Text }), output: Nothing, run: () => ({}) }),
});
