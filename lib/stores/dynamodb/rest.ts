import { together } from '../../together.ts';
import { allOf, anyOf, type Condition, endless, endSetAt, endSetUpTo, present } from './conditions.ts';
import { askedPartitionOf, type Key, keys, partitionOf } from './keys.ts';
import { collect, query } from './reading.ts';
import type { Table } from './table.ts';
import { setIf } from './update-if.ts';

/**
 * What lies beside the state of an order: its submission, pages, and what agents have noted of it. Whether there is an
 * order its state alone says; when the rest is removed must follow from that, whoever dies on the way:
 *
 * - The rest gets its end after the state has it, and loses it before the state does: nothing of a live order has one.
 * - The submission gets its end last and loses it first: while it has none, others may have none.
 * - Each item remembers at which rev of the state its end was set: whoever stood still meanwhile sets no older one.
 */
export interface Rest {
  /** Gives all of it the end that the state has at this rev. */
  expire(orderId: string, rev: number, expiresAt: number): Promise<void>;
  /** Takes the end from all of it, for the state of this rev. False where some of it is gone, or has got another one. */
  keep(orderId: string, rev: number): Promise<boolean>;
}

type Attempt = <T>(work: () => Promise<T>) => Promise<T>;

export function restIn(table: Table, attempt: Attempt): Rest {
  const itemsIn = (pk: string): Promise<readonly (Key & { readonly rev?: number })[]> => {
    const input = {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ProjectionExpression: 'pk, sk, #rev',
      ExpressionAttributeNames: { '#rev': 'rev' },
      ConsistentRead: true,
    };
    return attempt(() => collect(query(table, input), (item) => item as unknown as Key & { rev?: number }));
  };

  /** Notes first: with the state read after them, they are notes of its rev or of an earlier one. */
  async function around(orderId: string) {
    const notes = await itemsIn(askedPartitionOf(orderId));
    const own = await itemsIn(partitionOf(orderId));
    const [submission, state] = [keys.order(orderId).sk, keys.state(orderId).sk];
    const pages = own.filter(({ sk }) => sk !== submission && sk !== state);
    return {
      others: [...notes, ...pages].map(({ pk, sk }): Key => ({ pk, sk })),
      rev: own.find(({ sk }) => sk === state)?.rev,
    };
  }

  const isSet = async (key: Key, change: Parameters<typeof setIf>[2], when: Condition): Promise<boolean> =>
    (await attempt(() => setIf(table, key, change, allOf(present, when)))).outcome === 'written';
  const setEnd = (key: Key, rev: number, expiresAt: number) => isSet(key, { set: { expiresAt, expiresAtRev: rev } }, endSetUpTo(rev));
  const takeEnd = (key: Key, rev: number) =>
    isSet(key, { set: { expiresAtRev: rev }, remove: ['expiresAt'] }, anyOf(endSetUpTo(rev - 1), allOf(endless, endSetAt(rev))));

  return {
    async expire(orderId, rev, expiresAt) {
      const found = await around(orderId);
      // Whoever has written since sees to the rest himself.
      if (found.rev !== rev) return;
      await together(found.others.map((key) => setEnd(key, rev, expiresAt)));
      await setEnd(keys.order(orderId), rev, expiresAt);
    },

    async keep(orderId, rev) {
      if (!(await takeEnd(keys.order(orderId), rev))) return false;
      const { others } = await around(orderId);
      return (await together(others.map((key) => takeEnd(key, rev)))).every((isTaken) => isTaken);
    },
  };
}
