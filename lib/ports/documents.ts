import type { JsonObject } from '#core/data/json';
import type { ListEntry, ListRead } from './lists.ts';

/** A record of anything but an order or its state: the state of a channel, the failure count of a message, a dead letter. */
export interface Document {
  /** Name of its collection, from `collections`. */
  readonly collection: string;
  /** Sort key within its collection; at most 1,024 bytes. */
  readonly id: string;
  /** Starts at 1 and rises by one with every write. A write must follow the value that it has read. */
  readonly rev: number;
  readonly content: JsonObject;
  /** Milliseconds since 1970. From then on the store may remove the document. */
  readonly expiresAt?: number;
  /** Its entries in lists. Each write gives all of them: a write without them takes the document off its lists. */
  readonly listA?: ListEntry<'A'>;
  readonly listB?: ListEntry<'B'>;
  readonly listC?: ListEntry<'C'>;
}

/** A page of a list. */
export interface DocumentPage {
  readonly items: readonly Document[];
  /** The sort key after which the next page begins; absent at the end. A page may hold fewer than `limit` documents and not be the last. */
  readonly next?: string;
}

/**
 * Store of documents. A writer passes the `rev` that it read, or 0 if there was no document. `refused` carries the current
 * document, or null.
 */
export interface Documents {
  document(collection: string, id: string): Promise<Document | undefined>;
  /** Returns at most `limit` documents in the order of their ids, after the id `after`. */
  documents(collection: string, after: string | undefined, limit: number): Promise<readonly Document[]>;
  /** Counts a collection up to `limit`, or as far as one read of the store reaches. It returns no contents. */
  countDocuments(collection: string, limit: number): Promise<DocumentCount>;
  /**
   * Returns at most `limit` documents of a list. It examines `limit` entries: an index may be late, and the document decides. On AWS an
   * entry may appear two seconds after its document.
   */
  listed(read: ListRead): Promise<DocumentPage>;
  /** `beside`: new documents with unused ids. They are part of the write's transaction: all are written or none. */
  putDocument(document: Document, loadedRev: number, beside?: readonly Document[]): Promise<DocumentWrite>;
  removeDocument(collection: string, id: string, loadedRev: number): Promise<DocumentWrite>;
}

/** The number of documents in a collection. `more`: the collection is larger than was counted. */
export interface DocumentCount {
  readonly count: number;
  readonly more: boolean;
}

export type DocumentWrite = { readonly outcome: 'written' } | { readonly outcome: 'refused'; readonly current: Document | null };

/** The prefix of all collections of the audit. */
const auditPrefix = 'AUDIT#';

/** Names of the collections. Permissions are granted per collection, so each channel has its own. */
export const collections = {
  /** Exceptions and tasks of an order, in the partition of its records: they expire and are erased with it. */
  order: (orderId: string) => `ORDER#${orderId}`,
  /** Tallies of exceptions by day and fingerprint, in one of `groupShards` parts. */
  exceptionGroups: (shard: number | '*') => `GROUPS#${shard}`,
  /** Fingerprints that include the message of a fault, by workflow and UTC day (`w#2026-01-31`). Their number is limited. */
  fingerprints: (of: string) => `FINGERPRINTS#${of}`,
  /** Messages for an order that a person has locked. */
  inbox: (orderId: string) => `INBOX#${orderId}`,
  /** State of a channel, under the id `CHANNEL`. */
  channel: (channel: string) => `CHANNEL#${channel}`,
  /** Names of the channels that are closed or were closed recently. Hosts read this one collection instead of every channel. */
  channels: 'CHANNELS',
  /** Failure counts of messages, by conversation. */
  tracks: (channel: string) => `TRACK#${channel}`,
  /** Dead letters, by the time at which the message was sent. */
  deadLetters: (channel: string) => `DEAD-LETTER#${channel}`,
  /** Idempotency keys of API calls, moved out of an order whose state is full. */
  calls: (orderId: string) => `CALLS#${orderId}`,
  /** The recorded definition of each version of a workflow, as it first ran. The id is the version. */
  workflow: (name: string) => `WORKFLOW#${name}`,
  /** The key of a day, encrypted by KMS. */
  key: (day: string) => `KEY#${day}`,
  /** Orders whose secrets were erased, by order. A restore erases them again. */
  erased: 'ERASED',
  /** Pointer to the present rules of people, under the id `CURRENT`. */
  rules: 'RULES',
  /** The rules of people under their hash, in parts. */
  ruleSet: (hash: string) => `RULESET#${hash}`,
  /** The versions of a rule, the newest first. */
  rule: (id: string) => `RULE#${id}`,
  /** The figures of the rules, in shards. */
  ruleCounts: 'RULE-COUNTS',
  /** The outcomes of a rule's last actions. The id is that of the rule. */
  ruleOutcomes: 'RULE-OUTCOMES',
  /** Rules that were announced as not fitting a version of a workflow. */
  staleRules: 'STALE-RULES',
  /** The instructions that people keep, by id. */
  solutions: 'SOLUTIONS',
  /** The number of uses of solutions and their verdicts, in one of a few parts. */
  solutionFigures: (shard: number | '*') => `SOLUTION-FIGURES#${shard}`,
  /** A bulk run: its record, its set in chunks, and the outcome of each order. */
  bulk: (id: string) => `BULK#${id}`,
  /** The figures of the whole system: `CURRENT`, and the orders of each step as the last sweep saw them: `STEPS`. */
  overview: 'OVERVIEW',
  /** The number of orders that finished in each minute of a UTC day. */
  finished: (day: string) => `FINISHED#${day}`,
  /** The agenda of the notifier, by time, in one of `agendaParts` parts. */
  agenda: (part: number | '*') => `AGENDA#${part}`,
  /** The notices of a group of people about alike tasks. */
  notices: (group: string) => `NOTICES#${group}`,
  /** The groups of people, by name. */
  peopleGroups: 'PEOPLE',
  /** The number of messages that each group of people has got in the current period. */
  allowances: 'ALLOWANCES',
  /** Messages on their way to the destinations of people. */
  deliveries: 'DELIVERIES',
  /** The mute, the note and the ticket of alike exceptions. The id is their fingerprint. */
  exceptionNotes: 'EXCEPTION-NOTES',
  /** The reads and writes of one object by orders, by time. The name is that of the object: `stock/tea`. */
  object: (name: string) => `OBJ#${name}`,
  /** API calls that wait for an order, to limit their number. */
  waits: 'WAITS',
  /** Position of the sweep through all orders. */
  sweep: 'SWEEP',
  /** Audit entries of a UTC day, newest first. */
  audit: (day: string) => `${auditPrefix}${day}`,
  /** The digests of the audit, one for each day. */
  auditDigests: `${auditPrefix}DIGESTS`,
  /** The entries of a day as its digest lists them, in parts. */
  auditDigestParts: (day: string) => `${auditPrefix}DIGEST#${day}`,
  /** Reads that the audit already has, by person, target and quarter of an hour. */
  auditedReads: (day: string) => `${auditPrefix}READS#${day}`,
} as const;
