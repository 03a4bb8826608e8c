export const dayMs = 86_400_000;

/** Returns the UTC day of a time in milliseconds since 1970: `2026-01-31`. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
