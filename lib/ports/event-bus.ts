import type { JsonObject } from '#core/data/json';
import type { DetailType } from './records.ts';

/** A message on the event bus. */
export interface Announcement {
  /** The same when sent twice; also in the detail. */
  readonly id: string;
  readonly detailType: DetailType;
  readonly detail: JsonObject;
}

/** Tells the event bus, at least once. */
export interface Publisher {
  /** Answers with the ids that were not taken; a bus takes some and refuses others in one call. */
  publish(announcements: readonly Announcement[]): Promise<{ readonly failed: readonly string[] }>;
}
