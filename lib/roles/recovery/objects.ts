import type { JsonObject } from '#core/data/json';
import { collections, type Document, type Documents } from '#ports/documents';
import { sortKey } from '#ports/lists';
import type { OutboxEntry } from '#ports/records';
import type { RecordWrite } from '#ports/tallies';
import { dayMs } from '#ports/util/days';

export type ObjectsEntry = Extract<OutboxEntry, { kind: 'objects' }>;

export const isObjectsEntry = (entry: OutboxEntry): entry is ObjectsEntry => entry.kind === 'objects';

/** The number of days for which it is known who used an object. An undo after that finds no consumers. */
export const relevantForDays = 7;

/** One use of an object by a step of an order. It took place between the first request of the step and its close. */
export interface ObjectUse {
  readonly orderId: string;
  readonly path: string;
  /** The time of the first request under the key of this effect: milliseconds since 1970. A record of an older release has only `at`. */
  readonly requestedAt?: number;
  /** The time when the step closed: milliseconds since 1970. */
  readonly at: number;
  readonly use: 'read' | 'write';
}

/** Returns the records of what a step has used: one document for each object and use, written at once and never changed. */
export const objectWrites = ({ orderId, path, requestedAt, closedAt: at, seq, reads, writes }: ObjectsEntry): readonly RecordWrite[] => {
  const uses = [...reads.map((name) => ({ name, use: 'read' as const })), ...writes.map((name) => ({ name, use: 'write' as const }))];
  return uses.map(({ name, use }) => {
    const content: ObjectUse = { orderId, path, ...(requestedAt === undefined ? {} : { requestedAt }), at, use };
    const document: Document = {
      collection: collections.object(name),
      // The number of the journal line names the step here, because a path may be longer than a key.
      id: sortKey(at, `${orderId}#${seq}#${use === 'read' ? 'r' : 'w'}`),
      rev: 1,
      content: content as unknown as JsonObject,
      expiresAt: at + relevantForDays * dayMs,
    };
    return { document, loadedRev: 0 };
  });
};

/** Stores what a step has used. A record that exists already has the same content, and stays. Rejects if one cannot be stored. */
export async function storeObjects(entry: ObjectsEntry, store: Pick<Documents, 'putDocument'>): Promise<void> {
  for (const { document, loadedRev } of objectWrites(entry)) await store.putDocument(document, loadedRev);
}

export const objectUseIn = ({ content }: Document): ObjectUse => content as unknown as ObjectUse;
