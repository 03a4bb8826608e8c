import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { allSettledOrThrow } from '#ports/util/all-settled';
import {
  allOf,
  anyOf,
  atRev,
  type Condition,
  conditionInput,
  endless,
  endSetAt,
  endSetUpTo,
  present,
  sameSubmission,
} from './conditions.ts';
import type { Item } from './items.ts';
import { calledIn, intentPartitionOf, type Key, keys, orderIdIn, partitionOf } from './keys.ts';
import { collect, get, query } from './reads.ts';
import { isRefused } from './retry.ts';
import type { Table } from './table.ts';
import { setIf } from './update-if.ts';

/**
 * What lies beside the state of an order: its submission, pages, and what agents have noted of it. Whether there is an
 * order its state alone says; when the rest is removed must follow from that, whoever dies on the way:
 *
 * - The rest gets its end after the state has it, and loses it before the state does: nothing of a live order has one.
 * - The submission gets its end last and loses it first: while it has none, others may have none.
 * - Orders that it called get their end with it, before its submission does: until then they are kept for it.
 * - Each item remembers at which rev of the state its end was set: whoever stood still meanwhile sets no older one.
 */
export interface Leftovers {
  /** Gives all of it the end that the state has at this rev, and the same end to the finished orders that it called. */
  expire(orderId: string, rev: number, expiresAt: number): Promise<void>;
  /** Gives a finished order that was called an end, and all that belongs to it: nothing keeps it any more. */
  release(orderId: string, expiresAt: number): Promise<void>;
  /** Takes the end from all of it, for the state of this rev. False where some of it is gone, or has got another one. */
  keep(orderId: string, rev: number): Promise<boolean>;
  /** Makes what is left of an order without a state, but for its submission, count as gone; nothing where that is another's. */
  discard(submission: Item, nowSeconds: number): Promise<void>;
}

type Attempt = <T>(work: () => Promise<T>) => Promise<T>;

/** Items of 400 KB and a transaction of 4 MB, one of them the submission. */
const discardedAtOnce = 9;

export function leftoversIn(table: Table, attempt: Attempt): Leftovers {
  const isSet = async (key: Key, change: Parameters<typeof setIf>[2], when: Condition): Promise<boolean> =>
    (await attempt(() => setIf(table, key, change, allOf(present, when)))).outcome === 'written';
  const setEnd = (key: Key, rev: number, expiresAt: number) => isSet(key, { set: { expiresAt, expiresAtRev: rev } }, endSetUpTo(rev));
  const takeEnd = (key: Key, rev: number) =>
    isSet(key, { set: { expiresAtRev: rev }, remove: ['expiresAt'] }, anyOf(endSetUpTo(rev - 1), allOf(endless, endSetAt(rev))));

  const rest: Leftovers = {
    async expire(orderId, rev, expiresAt) {
      const found = await attempt(() => around(table, orderId));
      // Whoever has written since sees to the rest himself.
      if (found.rev !== rev) return;
      await allSettledOrThrow(found.others.map((key) => setEnd(key, rev, expiresAt)));
      await allSettledOrThrow(found.others.flatMap(({ sk }) => calledIn(sk) ?? []).map((called) => rest.release(called, expiresAt)));
      await setEnd(keys.order(orderId), rev, expiresAt);
    },

    async release(orderId, expiresAt) {
      const key = keys.state(orderId);
      const { rev, processState, worklist } = (await attempt(() => get(table, key, ['rev', 'processState', 'worklist']))) ?? {};
      // One that is still at work sees at its end that nothing keeps it.
      if (typeof rev !== 'number' || processState !== 'Processed' || worklist !== undefined) return;
      await isSet(key, { set: { expiresAt } }, allOf(atRev(rev), endless));
      const ended = Number((await attempt(() => get(table, key, ['expiresAt'])))?.['expiresAt']);
      if (ended > 0) await rest.expire(orderId, rev, ended);
    },

    async keep(orderId, rev) {
      if (!(await takeEnd(keys.order(orderId), rev))) return false;
      const { others } = await attempt(() => around(table, orderId));
      return (await allSettledOrThrow(others.map((key) => takeEnd(key, rev)))).every((isTaken) => isTaken);
    },

    async discard(submission, nowSeconds) {
      const orderId = orderIdIn(String(submission['pk']));
      const { others } = await attempt(() => around(table, orderId));
      const parts = others.map((key) => gone(table.table, key, nowSeconds));
      for (let from = 0; from < parts.length; from += discardedAtOnce) {
        const TransactItems = [unchanged(table.table, orderId, submission), ...parts.slice(from, from + discardedAtOnce)];
        const done = attempt(() => table.client.send(new TransactWriteCommand({ TransactItems })));
        if (!(await done.then(() => true, notWhenRefused))) return;
      }
    },
  };
  return rest;
}

const notWhenRefused = (error: unknown): false => {
  if (isRefused(error)) return false;
  throw error;
};

/** Keys of what lies beside the state and the submission, and the state's rev. */
async function around(table: Table, orderId: string): Promise<{ readonly others: readonly Key[]; readonly rev: unknown }> {
  // Notes first: with the state read after them, they are notes of its rev or of an earlier one.
  const notes = await itemsIn(table, intentPartitionOf(orderId));
  const own = await itemsIn(table, partitionOf(orderId));
  const [submission, state] = [keys.order(orderId).sk, keys.state(orderId).sk];
  const pages = own.filter(({ sk }) => sk !== submission && sk !== state);
  return {
    others: [...notes, ...pages].map(({ pk, sk }) => ({ pk, sk })),
    rev: own.find(({ sk }) => sk === state)?.rev,
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

/** It is written as it was: to check it without writing would need a right of its own. */
const unchanged = (TableName: string, orderId: string, submission: Item) => {
  const { ExpressionAttributeNames, ...condition } = conditionInput(sameSubmission(submission));
  const update = { UpdateExpression: 'SET #hash = :hash', ExpressionAttributeNames };
  return { Update: { TableName, Key: keys.order(orderId), ...condition, ...update } };
};

/** DynamoDB itself removes only what has ended within the last five years. */
const gone = (TableName: string, Key: Key, nowSeconds: number) => ({
  Update: {
    TableName,
    Key,
    UpdateExpression: 'SET expiresAt = :ended',
    ExpressionAttributeValues: { ':ended': Math.floor(nowSeconds) - 1 },
  },
});
