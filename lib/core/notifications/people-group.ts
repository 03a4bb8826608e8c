import type { Destination } from './delivery.ts';

/** A group of people: who belongs to it, and where it hears of its tasks. */
export interface PeopleGroup {
  readonly name: string;
  /** Rises by one with every write. */
  readonly rev: number;
  /** The `sub` of each person. */
  readonly members: readonly string[];
  /** The destinations of its messages. Empty: the destination of the deployment. */
  readonly notify: readonly Destination[];
  /** The time until which the group gets no message: milliseconds since 1970. Absent: it is not muted. */
  readonly mutedUntil?: number;
  /** The author of this version, with the time and the reason. */
  readonly by: string;
  readonly at: number;
  readonly reason: string;
}

export const groupLimits = { membersMax: 500, destinationsMax: 5, muteDaysMax: 30 } as const;

/** The notes of people about alike exceptions: about all of one fingerprint. */
export interface ExceptionNote {
  readonly fingerprint: string;
  readonly rev: number;
  /** The time until which nobody hears of these exceptions: milliseconds since 1970. */
  readonly mutedUntil?: number;
  readonly note?: string;
  /** The address of a ticket. */
  readonly ticket?: string;
  readonly by: string;
  readonly at: number;
}

export const noteLimits = { noteCharactersMax: 4096, ticketCharactersMax: 1024 } as const;
