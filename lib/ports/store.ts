import type { Json } from '#core/data/json';
import type { UndoPage } from '#core/data/state';
import type { Breakers } from './circuit-breaker.ts';
import type { ClientRecord } from './clients.ts';
import type { Document, Documents } from './documents.ts';
import type { Announcement } from './event-bus.ts';
import type { OrderFigures } from './order-figures.ts';
import type { Outgoing } from './queues.ts';
import type { OrderRecord, Outcome, ProcessState, StateHead, StateRecord } from './records.ts';
import type { RecordWrite, Tallies } from './tallies.ts';

/** Precondition of a write: the store applies the write only if the record has exactly this epoch and rev. */
export interface Fence {
  readonly epoch: number;
  readonly rev: number;
}

/** Result of a write. A lost race is a result, not an error: `refused` carries the record that won, or null if there is none. */
export type Write = { readonly outcome: 'written' } | { readonly outcome: 'refused'; readonly current: StateRecord | null };

/** Result of a patch. A role that patches may have no right to read the instance, so a lost race returns the winning head alone. */
export type Patched = { readonly outcome: 'written' } | { readonly outcome: 'refused'; readonly current: StateHead | null };

/** Result of writing a registration. `taken`: the program already acts for another client. */
export type ClientWrite =
  | { readonly outcome: 'written' }
  | { readonly outcome: 'refused'; readonly current: ClientRecord | null }
  | { readonly outcome: 'taken'; readonly appClient: string; readonly client: string };

/** Messages, announcements and pages that the store may include in the transaction of a write. */
export interface SentWithWrite {
  readonly messages: readonly Outgoing[];
  readonly announcements: readonly Announcement[];
  /**
   * Records of exceptions and tasks, in a store that writes and sends atomically: all are written, or the write of the order is refused. A
   * first version (`loadedRev: 0`) of a record that exists already changes nothing.
   */
  readonly records?: readonly RecordWrite[];
  /** Journal entries that the write removes from the state. */
  readonly page?: Page;
  /** Undo entries that the write removes from the state. */
  readonly undoPage?: UndoPage;
  /**
   * Pages of journal entries from this same write that do not fit into its state. They follow the page that was stored under the
   * same rev. In every store they are part of the write's transaction.
   */
  readonly overflow?: readonly Page[];
}

/** The parts of an update. `create` takes no documents: a new order consists of its two records. */
export interface SentWithUpdate extends SentWithWrite {
  /** New documents with unused ids. In every store they are part of the update's transaction. */
  readonly documents?: readonly Document[];
}

/** A page of the journal, stored outside of the state. Its entries are oldest first. */
export type Page = readonly { readonly seq: number; readonly [key: string]: Json }[];

export interface OrderFilter {
  readonly client?: string;
  readonly state?: ProcessState;
  readonly outcome?: Outcome;
  readonly workflow?: string;
  /** Short fault type: `CardDeclined`. */
  readonly fault?: string;
  readonly reference?: string;
  /** Milliseconds since 1970, both exclusive. */
  readonly submittedAfter?: number;
  readonly submittedBefore?: number;
}

/** A position in a list of orders, newest first. */
export interface ListPosition {
  readonly submittedAt: number;
  readonly orderId: string;
}

export interface OrderPage {
  readonly items: readonly { readonly order: OrderRecord; readonly state: StateHead }[];
  /** Position of the next page; absent at the end. A page may hold fewer orders than `limit`, even none, and not be the last. */
  readonly next?: ListPosition;
}

export interface SweepPage {
  readonly ids: readonly string[];
  /** Position of the next page; absent at the end of the sweep. */
  readonly next?: string;
}

/** Intent to send a request whose effect may be requested only once. */
export interface Intent {
  readonly orderId: string;
  readonly idempotencyKey: string;
  readonly requestId: string;
}

/** Log of intents to call services that are not idempotent. Agents may write only this and the circuit breakers. */
export interface IntentLog {
  /**
   * Records the intent unless its key has one. `recorded`: this request alone may have the effect. The agent calls `withdraw()` if the
   * request was not sent after all. `refused` names the recorded request: perhaps this same request, delivered twice.
   */
  recordIntent(
    intent: Intent,
  ): Promise<{ readonly outcome: 'recorded'; withdraw(): Promise<void> } | { readonly outcome: 'refused'; readonly requestId: string }>;
}

/**
 * Store of orders and their states. A rejection means that the store is unavailable, or that the outcome of a write is unknown.
 * The writer then loads the record and looks for its write id. StoreRefusesError means that nothing was written and a retry
 * cannot succeed, because the item is too large.
 */
export interface Store extends IntentLog, Breakers, Documents, Tallies, OrderFigures {
  /** Whether `sentWithWrite` is part of the write's transaction: either both the write and the sends happen, or neither. */
  readonly writesAndSendsAtomically: boolean;

  /** Writes both records or neither. `exists` carries the earlier order of the same id. */
  create(
    order: OrderRecord,
    state: StateRecord,
    sentWithWrite: SentWithWrite,
  ): Promise<{ readonly outcome: 'written' } | { readonly outcome: 'exists'; readonly order: OrderRecord }>;
  /** Returns a consistent view of both records; undefined if the order does not exist. May reject with UnreadableRecordError. */
  load(orderId: string): Promise<{ readonly order: OrderRecord; readonly state: StateRecord } | undefined>;
  /**
   * Returns an order whose state is missing, because somebody or something has deleted it; undefined if the order has a state, has expired
   * or does not exist.
   */
  orderWithoutState(orderId: string): Promise<OrderRecord | undefined>;
  /** Writes the state of an order that has none. Otherwise nothing is written. */
  putMissingState(state: StateRecord): Promise<void>;
  /** Returns the state without its instance. May reject with UnreadableRecordError. */
  head(orderId: string): Promise<StateHead | undefined>;
  /** Replaces the state if the fence matches. */
  update(state: StateRecord, when: Fence, sentWithWrite: SentWithUpdate): Promise<Write>;
  /** Replaces the state but keeps its instance, if the fence matches. */
  patch(head: StateHead, when: Fence): Promise<Patched>;

  /** Replaces the record of an order by one without its key, and writes new documents in the same transaction. Keeps no copy of the key. */
  eraseSecrets(order: OrderRecord, documents: readonly Document[]): Promise<void>;

  /** Returns ids from a shard of the worklist with a time up to `until`, oldest first. They are candidates: the record decides. */
  due(worklist: 'due' | 'error', shard: number, until: number, limit: number): Promise<readonly string[]>;
  /**
   * Returns orders that the worklist may have missed: `limit` orders are examined, after the position `after`. The page has every examined
   * order that is not finished, and every one with a deadline; it may also have others, or be empty.
   */
  sweep(after: string | undefined, limit: number): Promise<SweepPage>;

  /** Stores a page of the journal under the rev of the state from which it was taken. Idempotent. */
  putPage(orderId: string, rev: number, page: Page): Promise<void>;
  pages(orderId: string): Promise<readonly Page[]>;
  /** Stores a page of the undo list under the rev of the state from which it was taken. Idempotent. */
  putUndoPage(orderId: string, rev: number, page: UndoPage): Promise<void>;
  /** Returns the page that was stored under a rev; undefined if there is none. */
  undoPage(orderId: string, rev: number): Promise<UndoPage | undefined>;

  /** Returns at most `limit` orders, newest first, after the position `after`. Unreadable records are skipped. */
  list(filter: OrderFilter, after: ListPosition | undefined, limit: number): Promise<OrderPage>;

  /**
   * Writes a registration. The writer passes the `rev` that it read, or 0 if there was no registration. `beside`: new documents that are
   * part of the write's transaction.
   */
  putClient(client: ClientRecord, loadedRev: number, beside?: readonly Document[]): Promise<ClientWrite>;
  client(id: string): Promise<ClientRecord | undefined>;
  /** Returns the id of the client for which a program of the token issuer acts. */
  clientOfApp(appClient: string): Promise<string | undefined>;
  clients(): Promise<readonly ClientRecord[]>;

  /** Deletes at most `limit` orders that finished before `finishedBefore`, with all their records. Returns how many. */
  forget(finishedBefore: number, limit: number): Promise<number>;
  /** Whether `forget` ever deleted an order. Items that DynamoDB expires (TTL) are not included. */
  hasForgotten(): Promise<boolean>;
}
