import type { List } from './lists.ts';
import type { StateHead } from './records.ts';

/** Counts stop at this number: a larger figure tells a person nothing more. */
export const countedMax = 10_000;

/** The orders that are not finished, by state. */
export interface UnfinishedOrders {
  readonly pending: number;
  readonly processing: number;
  readonly error: number;
  /** The time at which the oldest of them was submitted, as far as the store can tell: milliseconds since 1970. Null: there is none. */
  readonly oldestAt: number | null;
}

/** A part of a list. */
export interface ListRange {
  readonly list: List;
  /** Sort keys, both inclusive; absent: from the beginning, to the end. */
  readonly from?: string;
  readonly to?: string;
}

/** Orders that finished, by the minute: the start of the minute in milliseconds since 1970, and their number. */
export type FinishedByMinute = ReadonlyMap<number, number>;

/** Counts over many orders. Each stops at its `limit`. They read indexes, which may be some seconds late on AWS. */
export interface OrderFigures {
  /**
   * On AWS, `processing` includes an order that has ended and whose last messages are not certain to have been sent, and `oldestAt` may
   * miss an old order that has a deadline.
   */
  countUnfinished(limit: number): Promise<UnfinishedOrders>;
  countListed(range: ListRange, limit: number): Promise<number>;
  /** Counts the orders that finished at `from` or later, and before `before`. On AWS, times count by the minute. */
  countFinished(from: number, before: number, limit: number): Promise<number>;
  /** Adds to the count of finished orders. Absent: the store counts its finished orders itself. */
  readonly addFinished?: (finished: FinishedByMinute) => Promise<void>;
  /**
   * Returns at most `limit` orders of each state that is not final. Absent: the store cannot find them without a walk through all orders.
   */
  readonly unfinished?: (limit: number) => Promise<readonly StateHead[]>;
}
