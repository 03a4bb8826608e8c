import { dayMs, dayOf } from '#ports/util/days';

/** How long entries are kept. */
export const keptDays = 400;

/** Returns the day that is so many days later, or earlier. */
export const dayAfter = (day: string, days = 1): string => dayOf(Date.parse(day) + days * dayMs);
