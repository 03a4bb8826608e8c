import type { Item } from './items.ts';
import { type RetryOptions, withRetries } from './retry.ts';
import type { Table } from './table.ts';

export interface DynamoDbStoreOptions extends Table, RetryOptions {
  /** The time for which finished orders are kept; without it, forever. DynamoDB's time-to-live deletes them. */
  readonly retentionMs?: number | undefined;
  /** The most positions of an index that are examined for one page of a list, whether the filter keeps their orders or not. */
  readonly lookedMax?: number;
}

/** The table, time and retries that all parts of the store share. */
export interface StoreContext {
  readonly table: Table;
  /** The clock and the jitter of all retries. */
  readonly retryOptions: RetryOptions;
  readonly retentionMs: number | undefined;
  /** Does the work, and repeats it after a conflict. Rejects as the function of this name in `retry.ts` does. */
  withRetries<T>(work: () => Promise<T>): Promise<T>;
  nowSeconds(): number;
  /** Whether an item exists and its expiry has not passed. DynamoDB may delete an expired item days late. */
  isPresent(item: Item | null | undefined): item is Item;
}

export function storeContext({ client, table, clock, random, retentionMs }: DynamoDbStoreOptions): StoreContext {
  const retryOptions: RetryOptions = { clock, ...(random ? { random } : {}) };
  const nowSeconds = (): number => clock.now() / 1000;
  return {
    table: { client, table },
    retryOptions,
    retentionMs,
    withRetries: (work) => withRetries(work, retryOptions),
    nowSeconds,
    isPresent: (item): item is Item => !!item && !(Number(item['expiresAt']) < nowSeconds()),
  };
}
