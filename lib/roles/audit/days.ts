export const dayMs = 86_400_000;
/** How long entries are kept. */
export const keptDays = 400;

/** Returns the UTC day of a time: `2026-01-31`. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Returns the day that is so many days later, or earlier. */
export const dayAfter = (day: string, days = 1): string => dayOf(Date.parse(day) + days * dayMs);
