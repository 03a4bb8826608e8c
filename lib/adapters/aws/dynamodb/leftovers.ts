import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { allSettledOrThrow } from '#ports/util/all-settled';
import {
  allOf,
  anyOf,
  atRev,
  type Condition,
  conditionInput,
  expirySetAt,
  expirySetUpTo,
  present,
  sameSubmission,
  withoutExpiry,
} from './conditions.ts';
import type { StoreContext } from './context.ts';
import type { Item } from './items.ts';
import { calledIn, intentPartitionOf, type Key, keys, orderIdIn, partitionOf } from './keys.ts';
import { collect, get, query } from './reads.ts';
import { isRefused } from './retry.ts';
import type { Table } from './table.ts';
import { setIf } from './update-if.ts';

/**
 * The records beside the state of an order: its submission, its pages, and the intents of agents. The state alone says whether the order
 * exists. The expiry of the other records must follow the state's, even if a process crashes in between:
 * - The other records get their expiry after the state, and lose it before the state. No record of an unfinished order has an expiry.
 * - The submission gets its expiry last and loses it first. While the submission has no expiry, other records may lack theirs, too.
 * - Called orders get their expiry with their caller, before the caller's submission does. Until then they are kept for the caller.
 * - Each item stores the rev for which its expiry was set, so that a delayed process cannot set an older expiry.
 */
export interface Leftovers {
  /** Gives the other records of the order, and the finished orders that it called, the expiry that its state has at this rev. */
  expire(orderId: string, rev: number, expiresAt: number): Promise<void>;
  /** Gives a finished called order, with all its records, an expiry, because its caller no longer keeps the called order. */
  release(orderId: string, expiresAt: number): Promise<void>;
  /**
   * Removes the expiry of all these records, for the state of this rev. Resolves to false if a record is gone, or has an expiry that was
   * set for this rev or for a later one.
   */
  keep(orderId: string, rev: number): Promise<boolean>;
  /** Marks the records of an order without a state as expired, except for the submission. Stops if the submission has changed. */
  discard(submission: Item, nowSeconds: number): Promise<void>;
}

/** The records that one transaction discards, beside the submission. The limit of a transaction, 4 MB, holds ten items of 400 KB. */
const discardedAtOnce = 9;

export function leftoversIn({ table, withRetries }: StoreContext): Leftovers {
  const trySet = async (key: Key, change: Parameters<typeof setIf>[2], when: Condition): Promise<boolean> =>
    (await withRetries(() => setIf(table, key, change, allOf(present, when)))).outcome === 'written';
  const setExpiry = (key: Key, rev: number, expiresAt: number) =>
    trySet(key, { set: { expiresAt, expiresAtRev: rev } }, expirySetUpTo(rev));
  const removeExpiry = (key: Key, rev: number) =>
    trySet(
      key,
      { set: { expiresAtRev: rev }, remove: ['expiresAt'] },
      anyOf(expirySetUpTo(rev - 1), allOf(withoutExpiry, expirySetAt(rev))),
    );

  const leftovers: Leftovers = {
    async expire(orderId, rev, expiresAt) {
      const found = await withRetries(() => recordsBeside(table, orderId));
      // A later write of the state has handled the other records itself.
      if (found.rev !== rev) return;
      await allSettledOrThrow(found.others.map((key) => setExpiry(key, rev, expiresAt)));
      await allSettledOrThrow(found.others.flatMap(({ sk }) => calledIn(sk) ?? []).map((called) => leftovers.release(called, expiresAt)));
      await setExpiry(keys.order(orderId), rev, expiresAt);
    },

    async release(orderId, expiresAt) {
      const key = keys.state(orderId);
      const { rev, processState, worklist } = (await withRetries(() => get(table, key, ['rev', 'processState', 'worklist']))) ?? {};
      // A called order that is not finished finds at its own end that its caller no longer keeps it.
      if (typeof rev !== 'number' || processState !== 'Processed' || worklist !== undefined) return;
      await trySet(key, { set: { expiresAt } }, allOf(atRev(rev), withoutExpiry));
      const ended = Number((await withRetries(() => get(table, key, ['expiresAt'])))?.['expiresAt']);
      if (ended > 0) await leftovers.expire(orderId, rev, ended);
    },

    async keep(orderId, rev) {
      if (!(await removeExpiry(keys.order(orderId), rev))) return false;
      const { others } = await withRetries(() => recordsBeside(table, orderId));
      return (await allSettledOrThrow(others.map((key) => removeExpiry(key, rev)))).every((isRemoved) => isRemoved);
    },

    async discard(submission, nowSeconds) {
      const orderId = orderIdIn(String(submission['pk']));
      const { others } = await withRetries(() => recordsBeside(table, orderId));
      const parts = others.map((key) => expireNow(table.table, key, nowSeconds));
      for (let from = 0; from < parts.length; from += discardedAtOnce) {
        const TransactItems = [requireSubmission(table.table, orderId, submission), ...parts.slice(from, from + discardedAtOnce)];
        const done = withRetries(() => table.client.send(new TransactWriteCommand({ TransactItems })));
        if (!(await done.then(() => true, notWhenRefused))) return;
      }
    },
  };
  return leftovers;
}

const notWhenRefused = (error: unknown): false => {
  if (isRefused(error)) return false;
  throw error;
};

/** Returns the keys beside the state and the submission, and the rev of the state. */
async function recordsBeside(table: Table, orderId: string): Promise<{ readonly others: readonly Key[]; readonly rev: unknown }> {
  // Intents are read before the state, so they belong to its rev or to an earlier one.
  const intents = await itemsIn(table, intentPartitionOf(orderId));
  const ofOrder = await itemsIn(table, partitionOf(orderId));
  const [submission, state] = [keys.order(orderId).sk, keys.state(orderId).sk];
  const pages = ofOrder.filter(({ sk }) => sk !== submission && sk !== state);
  return {
    others: [...intents, ...pages].map(({ pk, sk }) => ({ pk, sk })),
    rev: ofOrder.find(({ sk }) => sk === state)?.rev,
  };
}

function itemsIn(table: Table, pk: string): Promise<readonly (Key & { readonly rev?: unknown })[]> {
  const input = {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': pk },
    ProjectionExpression: 'pk, sk, #rev',
    ExpressionAttributeNames: { '#rev': 'rev' },
    ConsistentRead: true,
  };
  return collect(query(table, input), (item) => item as unknown as Key);
}

/** Rewrites one attribute of the submission with the same value. A check without a write would need another permission. */
const requireSubmission = (TableName: string, orderId: string, submission: Item) => {
  const { ExpressionAttributeNames, ...condition } = conditionInput(sameSubmission(submission));
  const update = { UpdateExpression: 'SET #hash = :hash', ExpressionAttributeNames };
  return { Update: { TableName, Key: keys.order(orderId), ...condition, ...update } };
};

/** Sets an expiry in the past. DynamoDB deletes only items that expired within the last five years. */
const expireNow = (TableName: string, Key: Key, nowSeconds: number) => ({
  Update: {
    TableName,
    Key,
    UpdateExpression: 'SET expiresAt = :ended',
    ExpressionAttributeValues: { ':ended': Math.floor(nowSeconds) - 1 },
  },
});
