import {
  askOperator,
  assign,
  ChildNotCompleted,
  call,
  compute,
  defineWorkflow,
  type Expr,
  forEach,
  ifTrue,
  NoSignal,
  not,
  parallel,
  type Ref,
  raise,
  sequence,
  text,
  variables,
  waitFor,
} from 'redress';
import * as z from 'zod';
import { car, flight, hotel, post, visaOffice } from './agents.ts';
import { Refused, VisaRefused } from './faults.ts';
import { GroupTrip, Trip } from './order.ts';

type TripOrder = Ref<z.infer<typeof Trip>>;

const day = 24 * 3600;
const Days = z.object({ outward: z.iso.date(), back: z.iso.date() });
const Visa = z.object({ granted: z.boolean() });

const nightsBetween = compute('nights', { version: 1, input: Days, output: z.int() }, ({ outward, back }) =>
  Math.round((Date.parse(back) - Date.parse(outward)) / (day * 1000)),
);

/** The visa office sends this signal when it has decided. */
export const visa = waitFor('visa', Visa, { withinSeconds: 10 * day });

/** Without the signal, an operator calls the visa office. */
export const visaByTelephone = ({ traveller, journey }: TripOrder) =>
  askOperator('visa-by-telephone', {
    question: text`The visa office has said nothing for ten days. May ${traveller.name} go to ${journey.to}?`,
    answer: Visa,
  });

const vars = variables<{ granted: boolean }>();

function visaCheck(order: TripOrder, orderId: Expr<string>) {
  const { traveller, journey } = order;
  const { name, passport } = traveller;
  const apply = visaOffice
    .apply({ orderId, name, passport, country: journey.to })
    .undo(({ applicationId }) => visaOffice.withdraw({ applicationId }));

  const call = visaByTelephone(order);
  const decision = sequence(visa, assign(vars.granted, visa.output.granted))
    .on(NoSignal, () => sequence(call, assign(vars.granted, call.output.granted)))
    .named('decision');
  const refused = raise(VisaRefused, text`${journey.to} does not let ${name} in.`);

  return sequence(apply, decision, ifTrue(not(vars.granted), refused)).named('visa-check');
}

/**
 * Books flight, hotel and car in parallel, then applies for a visa if the journey needs one. After any refusal it cancels the bookings,
 * newest first, and notifies the traveler.
 */
export const bookTrip = defineWorkflow('book-trip', { version: 1, order: Trip }, ({ order, orderId }) => {
  const { traveller, journey } = order;
  const { name, passport } = traveller;
  const { from, to, outward, back } = journey;
  const nights = nightsBetween({ outward, back });

  const bookings = parallel(
    flight
      .book({ name, passport, from, to, outward, back })
      .named('flight')
      .undo(({ bookingId }) => flight.cancel({ bookingId })),
    hotel
      .book({ name, city: to, nights: nights.output })
      .named('hotel')
      .undo(({ bookingId }) => hotel.cancel({ bookingId })),
    car
      .book({ name, city: to, days: { from: outward, to: back } })
      .named('car')
      .undo(({ bookingId }) => car.cancel({ bookingId })),
  ).named('bookings');

  const confirm = post
    .tell({ to: traveller.email, text: text`${name}, your journey to ${to} is booked.` })
    .named('confirm')
    .noUndo();

  return sequence(nights, bookings, ifTrue(journey.visa, visaCheck(order, orderId)), confirm).on(Refused, ({ fault, compensate }) =>
    sequence(
      compensate(),
      post.tell({ to: traveller.email, text: text`${name}, we have canceled your journey to ${to}. ${fault.message}` }).named('apologise'),
    ),
  );
});

/** Runs `bookTrip` as a called order for each traveler. If one traveler cannot go, the journeys of the others are undone. */
export const bookGroup = defineWorkflow('book-group', { version: 1, order: GroupTrip }, ({ order }) =>
  forEach(order.travellers, (traveller) => call(bookTrip, { traveller, journey: order.journey })).on(ChildNotCompleted, ({ compensate }) =>
    sequence(
      compensate(),
      post.tell({ to: order.organiser, text: text`We have canceled the journey to ${order.journey.to} for all of you.` }),
    ),
  ),
);
