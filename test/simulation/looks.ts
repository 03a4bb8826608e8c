/** The number of events in which a world checks once: a check after each event would take too long. */
const everyEvents = 20;

/**
 * Whether a world examines after this event if it is at rest. It checks once in each twenty events, and in each twenty one event
 * earlier. At rest, supervisors run in turn, with equally many events in each pass: checks every twenty events could always find one at
 * work.
 */
export const isLook = (events: number): boolean =>
  events % everyEvents === everyEvents - 1 - (Math.floor(events / everyEvents) % everyEvents);
