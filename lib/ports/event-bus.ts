import type { JsonObject } from '#core/data/json';
import type { DetailType } from './records.ts';

/** A message on the event bus. */
export interface Announcement {
  /** Unchanged if the announcement is sent twice; `detail` repeats it. */
  readonly id: string;
  readonly detailType: DetailType;
  readonly detail: JsonObject;
}

/** Publisher of announcements to the event bus, at least once. */
export interface Publisher {
  /** Resolves to the ids that the bus refused. A bus may refuse some entries of a call and accept the others. */
  publish(announcements: readonly Announcement[]): Promise<{ readonly failed: readonly string[] }>;
}
