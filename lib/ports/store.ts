import type { Json } from '#core/data/json';
import type { UndoPage } from '#core/data/state';
import type { Breakers } from './circuit-breaker.ts';
import type { Documents } from './documents.ts';
import type { Announcement } from './event-bus.ts';
import type { Outgoing } from './queues.ts';
import type { ClientRecord, OrderRecord, Outcome, ProcessState, StateHead, StateRecord } from './records.ts';

/** What stood in the store when a write came: the write counts only for exactly this. */
export interface Fence {
  readonly epoch: number;
  readonly rev: number;
}

/** Losing a race is an answer: `refused` carries the record that won, or null where there is none. */
export type Write = { readonly outcome: 'written' } | { readonly outcome: 'refused'; readonly current: StateRecord | null };

/** What may travel in the transaction of a write, where store, channel and publisher share one. */
export interface SentWithWrite {
  readonly messages: readonly Outgoing[];
  readonly announcements: readonly Announcement[];
  /** Entries of the journal that the write drops from the state. */
  readonly page?: Page;
  /** Entries of the undo list that the write drops from the state. */
  readonly undoPage?: UndoPage;
  /**
   * Pages of the journal for which the state of this very write has no room: behind the page that was put aside under the same rev.
   * They are part of the write's transaction in every store.
   */
  readonly overflow?: readonly Page[];
}

/** A page of the journal, put aside: its entries, oldest first. */
export type Page = readonly { readonly seq: number; readonly [key: string]: Json }[];

export interface OrderFilter {
  readonly client?: string;
  readonly state?: ProcessState;
  readonly outcome?: Outcome;
  readonly workflow?: string;
  /** Short type: `CardDeclined`. */
  readonly fault?: string;
  readonly reference?: string;
  /** Milliseconds since 1970, both exclusive. */
  readonly submittedAfter?: number;
  readonly submittedBefore?: number;
}

/** A place in a list, newest first. */
export interface ListPosition {
  readonly submittedAt: number;
  readonly orderId: string;
}

export interface OrderPage {
  readonly items: readonly { readonly order: OrderRecord; readonly state: StateHead }[];
  /** Where the list goes on; absent at its end. A page may hold fewer than was asked for, even none, and not be the last. */
  readonly next?: ListPosition;
}

export interface SweepPage {
  readonly ids: readonly string[];
  /** The place where it goes on; absent where all orders were looked at. */
  readonly next?: string;
}

/** One asking for an effect that may be asked for only once. */
export interface Intent {
  readonly orderId: string;
  readonly idempotencyKey: string;
  readonly requestId: string;
}

/** Where agents note what they are about to ask a service for that has no idempotency: all that they may write. */
export interface IntentLog {
  /**
   * Notes the asking where none stands under its key. `noted`: nobody else may ask any more, until it is withdrawn since
   * nothing was sent. `refused` tells which stands there: perhaps the same one, delivered twice.
   */
  recordIntent(
    asking: Intent,
  ): Promise<{ readonly outcome: 'recorded'; withdraw(): Promise<void> } | { readonly outcome: 'refused'; readonly requestId: string }>;
}

/**
 * Keeps orders and their states. A promise that rejects means that the store is not to be had, or that nobody knows
 * whether the write happened: whoever wrote loads again and looks for his `writeId`. Rejected with StoreRefusesError, nothing
 * was written, and never will be: it is too large.
 */
export interface Store extends IntentLog, Breakers, Documents {
  /** True where `along` is part of the write's own transaction: what was written is then sent as well, or neither. */
  readonly writesAndSendsAtomically: boolean;

  /** Writes both records or neither. `exists` carries the order that was there first, of the same id. */
  create(
    order: OrderRecord,
    state: StateRecord,
    sentWithWrite: SentWithWrite,
  ): Promise<{ readonly outcome: 'written' } | { readonly outcome: 'exists'; readonly order: OrderRecord }>;
  /** Both records as of one moment; undefined where there is no such order. Rejects with UnreadableRecordError. */
  load(orderId: string): Promise<{ readonly order: OrderRecord; readonly state: StateRecord } | undefined>;
  /** The state without its instance. Rejects with UnreadableRecordError. */
  head(orderId: string): Promise<StateHead | undefined>;
  /** Replaces the state where the fence holds. */
  update(state: StateRecord, when: Fence, sentWithWrite: SentWithWrite): Promise<Write>;
  /** Replaces the state without touching its instance. */
  patch(head: StateHead, when: Fence): Promise<Write>;

  /** Ids of orders in a shard of the worklist with a time up to `until`, oldest first. A proposal: the record decides. */
  due(worklist: 'due' | 'error', shard: number, until: number, limit: number): Promise<readonly string[]>;
  /**
   * Looks at so many orders, from behind a place, for what the worklist may have missed: those that have a deadline; there may
   * be others among them, or none at all.
   */
  sweep(after: string | undefined, limit: number): Promise<SweepPage>;

  /** Puts a page of the journal aside under the rev at which it was read; the same again changes nothing. */
  putPage(orderId: string, rev: number, page: Page): Promise<void>;
  pages(orderId: string): Promise<readonly Page[]>;
  /** Puts a page of the undo list aside under the rev at which it was read; the same again changes nothing. */
  putUndoPage(orderId: string, rev: number, page: UndoPage): Promise<void>;
  /** The page that was put aside under a rev; undefined where there is none. */
  undoPage(orderId: string, rev: number): Promise<UndoPage | undefined>;

  /** Newest first, from behind `after`; at most `limit`. Records that can't be read are passed over. */
  list(filter: OrderFilter, after: ListPosition | undefined, limit: number): Promise<OrderPage>;

  putClient(client: ClientRecord): Promise<void>;
  client(id: string): Promise<ClientRecord | undefined>;
  clients(): Promise<readonly ClientRecord[]>;

  /** Forgets orders that were finished before then, with all that belongs to them; at most `limit`. Returns how many. */
  forget(finishedBefore: number, limit: number): Promise<number>;
  /** Whether `forget` ever forgot an order here. What DynamoDB has removed by itself it does not know. */
  hasForgotten(): Promise<boolean>;
}
