import type { JsonObject } from '#core/data/json';

/** A record that is no order: what a channel is, how often a message failed, a message that was dead-lettered. */
export interface Document {
  /** Whose it is and what it is: made in `collections`. */
  readonly collection: string;
  /** Sorts within its collection; at most 1,024 bytes. */
  readonly id: string;
  /** Rises by one at every write, from 1: its fence. */
  readonly rev: number;
  readonly content: JsonObject;
  /** Milliseconds since 1970: from then on it may be gone. */
  readonly expiresAt?: number;
}

/**
 * Keeps documents. Whoever writes or removes one names the rev that he read, 0 where there was nothing; `refused` carries what
 * stands there, or null.
 */
export interface Documents {
  document(collection: string, id: string): Promise<Document | undefined>;
  /** By id, from behind `after`; at most `limit`. */
  documents(collection: string, after: string | undefined, limit: number): Promise<readonly Document[]>;
  putDocument(document: Document, loadedRev: number): Promise<DocumentWrite>;
  removeDocument(collection: string, id: string, loadedRev: number): Promise<DocumentWrite>;
}

export type DocumentWrite = { readonly outcome: 'written' } | { readonly outcome: 'refused'; readonly current: Document | null };

/** One for each channel, so that whoever may write to one can write to no other: rights go by the collection. */
export const collections = {
  /** Whether a channel is open, under the id `CHANNEL`. */
  channel: (channel: string) => `CHANNEL#${channel}`,
  /** Names of the channels that are closed, or were not long ago: whoever must know reads one collection, not all channels. */
  channels: 'CHANNELS',
  /** How often handling a message failed, by its conversation. */
  tracks: (channel: string) => `TRACK#${channel}`,
  /** Messages that were dead-lettered, by the time at which they were sent. */
  deadLetters: (channel: string) => `DEAD-LETTER#${channel}`,
  /** Idempotency keys of calls that an order has no room for any more. */
  calls: (orderId: string) => `CALLS#${orderId}`,
  /** What steers each version of a workflow, under the version, as it was when it was first started. */
  workflow: (name: string) => `WORKFLOW#${name}`,
  /** How far the sweep has come through all orders. */
  sweep: 'SWEEP',
} as const;
