import { collections, type Documents } from '#ports/documents';
import { timeStart } from '#ports/lists';
import { type ObjectUse, objectUseIn } from './objects.ts';

/** A write of an object by a step of an order. All times: milliseconds since 1970. */
export interface ObjectWrite {
  readonly object: string;
  readonly orderId: string;
  /** The time of the first request of the step. The object was written between this time and `at`. */
  readonly requestedAt: number;
  /** The time when the step closed. */
  readonly at: number;
  /** The time when the write was undone, if it was. */
  readonly undoneAt?: number;
}

/** A step of another order that may have read what a write left: an ordinary consumer (F-151). */
export interface Consumer {
  readonly orderId: string;
  readonly path: string;
  readonly object: string;
}

/** A consumer, and when its step closed after it had last read the object: milliseconds since 1970. */
export interface Reader extends Consumer {
  readonly at: number;
}

export interface Consumers<Item extends Consumer = Consumer> {
  readonly items: readonly Item[];
  /** Whether there are, or may be, further consumers: a limit ended the search. */
  readonly more: boolean;
}

export const consumerLimits = {
  /** Consumers of one call. */
  consumersMax: 1000,
  /** Uses of objects that one call reads. */
  usesMax: 10_000,
  pageSize: 500,
  /**
   * A step that reads an object before the undo, or before the next write, is found if it closes at most this long after that undo or
   * write.
   */
  openMaxMs: 3_600_000,
} as const;

/**
 * Finds the ordinary consumers of writes: the steps of other orders that may have read an object after the write and before its undo, with
 * no write of another order between. A step may have read or written at any time between its first request and its close. Clocks of hosts
 * differ, so steps that overlap by a millisecond count. A use is known for `relevantForDays`.
 */
export async function consumersOf(writes: readonly ObjectWrite[], store: Pick<Documents, 'documents'>): Promise<Consumers<Reader>> {
  const found = new Map<string, Reader>();
  let usesLeft: number = consumerLimits.usesMax;
  for (const write of writes) {
    let readUntil = write.undoneAt ?? Number.POSITIVE_INFINITY;
    for await (const { orderId, path, at, requestedAt = at, use } of usesSince(write, store)) {
      if (at > readUntil + consumerLimits.openMaxMs) break;
      if (usesLeft-- <= 0) return { items: [...found.values()], more: true };
      if (orderId === write.orderId) continue;
      // A later write, requested after this write had closed, hides this write from each step that was requested after the later write
      // closed.
      if (use === 'write' && requestedAt > write.at) readUntil = Math.min(readUntil, at);
      if (use === 'write' || requestedAt > readUntil) continue;
      const consumer = { orderId, path, object: write.object };
      const key = JSON.stringify(consumer);
      if (found.size === consumerLimits.consumersMax && !found.has(key)) return { items: [...found.values()], more: true };
      found.set(key, { ...consumer, at });
    }
  }
  return { items: [...found.values()], more: false };
}

/** Yields the uses of an object by steps that have closed since the step of a write was requested, oldest first. */
async function* usesSince({ object, requestedAt }: ObjectWrite, store: Pick<Documents, 'documents'>): AsyncGenerator<ObjectUse> {
  const collection = collections.object(object);
  for (let after = timeStart(requestedAt); ; ) {
    const page = await store.documents(collection, after, consumerLimits.pageSize);
    yield* page.map(objectUseIn);
    const last = page.at(-1);
    if (!last || page.length < consumerLimits.pageSize) return;
    after = last.id;
  }
}

/** Returns a consumer as the API shows it. */
export const withoutTime = ({ at: _, ...consumer }: Reader): Consumer => consumer;
