import type { JsonObject } from '#core/data/json';
import type { Document, DocumentWrite } from './documents.ts';

/** Sums over alike documents: for example over the exceptions of one fingerprint on one day. */
export interface Tally {
  /**
   * Name of its collection, from `collections`. Its writers spread over several collections, so that no partition of a table gets too many
   * writes.
   */
  readonly collection: string;
  readonly id: string;
  readonly sums: { readonly [name: string]: number };
  /** The fields that the counted documents share. The first document gives them. */
  readonly about: JsonObject;
  /** Times of the first and the last counted document: milliseconds since 1970. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** The addition of one write to a tally. */
export interface TallyAdd {
  readonly collection: string;
  readonly id: string;
  readonly sums: Tally['sums'];
  readonly about: JsonObject;
  /**
   * The time of the document, if the write adds a document: milliseconds since 1970. An addition for a later change of that document has
   * no time.
   */
  readonly at?: number;
  /** Milliseconds since 1970. From then on the store may remove the tally. */
  readonly expiresAt: number;
}

/** A write of a document, with what it adds to a tally. */
export interface RecordWrite {
  readonly document: Document;
  readonly loadedRev: number;
  readonly add?: TallyAdd;
}

/** Exact sums: each is written with the document that it counts, or not at all. */
export interface Tallies {
  /** Writes a document as `putDocument` does, and adds to a tally, or does neither. */
  putCounted(document: Document, loadedRev: number, add: TallyAdd): Promise<DocumentWrite>;
  /** Returns the tallies of a collection with an id from `from` on, in the order of their ids. */
  tallies(collection: string, from: string): Promise<readonly Tally[]>;
}
