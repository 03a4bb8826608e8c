import type { Document, Documents, DocumentWrite } from '#ports/documents';
import { absent, atRev } from './conditions.ts';
import type { StoreContext } from './context.ts';
import type { Item } from './items.ts';
import { dynamoDbLists, listAttributes } from './lists.ts';
import { collect, countPage, get, query } from './reads.ts';
import { expiryAttribute } from './table.ts';
import { type Answer, deleteIf, type Put, putAllIf, putIf } from './update-if.ts';

/** Stores documents in the table of the orders: a collection is a partition. */
export function dynamoDbDocuments(context: StoreContext): Documents {
  const { table, withRetries } = context;
  return {
    async document(collection, id) {
      const item = await withRetries(() => get(table, keyOf(collection, id)));
      return item && documentOf(item);
    },
    documents: (collection, after, limit) =>
      withRetries(() => {
        const values = { ':pk': collection, ...(after === undefined ? {} : { ':after': after }) };
        const condition = after === undefined ? 'pk = :pk' : 'pk = :pk AND sk > :after';
        const input = { KeyConditionExpression: condition, ExpressionAttributeValues: values, ConsistentRead: true, Limit: limit };
        return collect(query(table, input), documentOf, limit);
      }),
    // A page ends after a megabyte, so a collection of large documents may have more than are counted here.
    async countDocuments(collection, limit) {
      const { count, more } = await withRetries(() => countPage(table, collection, limit + 1));
      return { count: Math.min(count, limit), more: more || count > limit };
    },
    ...dynamoDbLists(context, documentOf),
    async putDocument(document, loadedRev, beside = []) {
      const item = documentItem(document);
      const when = loadedRev === 0 ? absent : atRev(loadedRev);
      const others = beside.map(newDocument);
      const put = () => (others.length === 0 ? putIf(table, item, when) : putAllIf(table, { item, when }, others));
      return writtenDocument(await withRetries(put), item.record);
    },
    async removeDocument(collection, id, loadedRev) {
      const answer = await withRetries(() => deleteIf(table, keyOf(collection, id), atRev(loadedRev)));
      return answer.outcome === 'written' ? answer : { outcome: 'refused', current: answer.current && documentOf(answer.current) };
    },
  };
}

const keyOf = (collection: string, id: string) => ({ pk: collection, sk: id });

/** Returns the item of a document. */
export const documentItem = (document: Document): Item & { readonly record: string } => ({
  ...keyOf(document.collection, document.id),
  rev: document.rev,
  record: JSON.stringify(document),
  ...listAttributes(document),
  ...(document.expiresAt === undefined ? {} : { [expiryAttribute]: Math.ceil(document.expiresAt / 1000) }),
});

/** Returns the put of a document that must not exist yet. */
export const newDocument = (document: Document): Put => ({ item: documentItem(document), when: absent });

/**
 * Returns the answer to a write. If the response to our write was lost, the SDK's retry is refused and finds our own text. That counts as
 * written.
 */
export const writtenDocument = (answer: Answer, text: string | undefined): DocumentWrite =>
  answer.outcome === 'written' || (answer.current?.['record'] ?? undefined) === text
    ? { outcome: 'written' }
    : { outcome: 'refused', current: answer.current && documentOf(answer.current) };

/** Returns the document of an item. */
export const documentOf = (item: Item): Document => JSON.parse(String(item['record'])) as Document;
