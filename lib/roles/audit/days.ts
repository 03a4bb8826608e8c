import { dayMs, dayOf } from '#ports/util/days';

/** The number of days for which an entry is kept. */
export const keptDays = 400;

/** Returns the day that is `days` days later; earlier if the number is negative. */
export const dayAfter = (day: string, days = 1): string => dayOf(Date.parse(day) + days * dayMs);
