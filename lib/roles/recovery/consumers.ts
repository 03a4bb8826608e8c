import { collections, type Documents } from '#ports/documents';
import { timeStart } from '#ports/lists';
import { type ObjectUse, objectUseIn } from './objects.ts';

/** A write of an object by a step of an order. All times: milliseconds since 1970. */
export interface ObjectWrite {
  readonly object: string;
  readonly orderId: string;
  /** When the step closed. */
  readonly at: number;
  /** When the write was undone. Absent: it was not. */
  readonly undoneAt?: number;
}

/** A step of another order that has read what a write left: an ordinary consumer (F-151). */
export interface Consumer {
  readonly orderId: string;
  readonly path: string;
  readonly object: string;
}

export interface Consumers {
  readonly items: readonly Consumer[];
  /** There are more than are listed, or than were looked for. */
  readonly more: boolean;
}

export const consumerLimits = {
  /** Consumers of one call. */
  consumersMax: 1000,
  /** Uses of objects that one call reads. */
  usesMax: 10_000,
  pageSize: 500,
} as const;

/**
 * Finds the ordinary consumers of writes: the readers of each object after the write and before its undo, with no write of another order
 * between. Clocks of hosts differ, so a reader or a writer of the same millisecond counts as after. A use is known for `relevantForDays`.
 */
export async function consumersOf(writes: readonly ObjectWrite[], store: Pick<Documents, 'documents'>): Promise<Consumers> {
  const found = new Map<string, Consumer>();
  let usesLeft: number = consumerLimits.usesMax;
  for (const write of writes) {
    for await (const use of usesAfter(write, store)) {
      if (usesLeft-- <= 0) return { items: [...found.values()], more: true };
      if (use.orderId === write.orderId || use.use === 'write') continue;
      const consumer = { orderId: use.orderId, path: use.path, object: write.object };
      const key = JSON.stringify(consumer);
      if (found.size === consumerLimits.consumersMax && !found.has(key)) return { items: [...found.values()], more: true };
      found.set(key, consumer);
    }
  }
  return { items: [...found.values()], more: false };
}

/** Yields the uses of an object from a write up to its undo, or up to the next write of another order. */
async function* usesAfter(write: ObjectWrite, store: Pick<Documents, 'documents'>): AsyncGenerator<ObjectUse> {
  const { object, orderId, at, undoneAt = Number.POSITIVE_INFINITY } = write;
  const collection = collections.object(object);
  let until = undoneAt;
  for (let after = timeStart(at); ; ) {
    const page = await store.documents(collection, after, consumerLimits.pageSize);
    for (const document of page) {
      const use = objectUseIn(document);
      if (use.at > until) return;
      if (use.use === 'write' && use.orderId !== orderId && use.at > at) until = use.at;
      yield use;
    }
    const last = page.at(-1);
    if (!last || page.length < consumerLimits.pageSize) return;
    after = last.id;
  }
}
