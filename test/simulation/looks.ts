/** A world looks once in this many events, because a look after each one would take too long. */
const everyEvents = 20;

/**
 * Whether a world looks after this event if it has come to rest: after one event in each twenty, and each time one event earlier in it. At
 * rest, supervisors run in turn, with the same number of events for each pass: looks after every twentieth event could all find one at work.
 */
export const isLook = (events: number): boolean =>
  events % everyEvents === everyEvents - 1 - (Math.floor(events / everyEvents) % everyEvents);
