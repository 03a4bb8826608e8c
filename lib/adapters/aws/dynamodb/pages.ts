import type { Page, Store } from '#ports/store';
import { unused } from './conditions.ts';
import type { StoreContext } from './context.ts';
import { type Item, overflowItem, pageItem, pageOf, undoPageItem, undoPageOf } from './items.ts';
import { keys, pagesOf, partitionOf } from './keys.ts';
import { collect, get, query } from './reads.ts';
import { putIf } from './update-if.ts';

/** Stores pages of the journal and of the undo list beside the state. */
export function dynamoDbPages({
  table,
  withRetries,
  nowSeconds,
  isPresent,
}: StoreContext): Pick<Store, 'putPage' | 'pages' | 'putUndoPage' | 'undoPage'> {
  /** Writes a page. A repetition changes nothing, and a page of an expired order with the same id is replaced. */
  const put = (item: Item): Promise<void> => withRetries(() => putIf(table, item, unused(nowSeconds()))).then(() => undefined);

  return {
    putPage: async (orderId, rev, page) => put(pageItem(orderId, rev, page)),
    async pages(orderId) {
      const input = {
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': partitionOf(orderId), ':prefix': pagesOf.prefix },
        ConsistentRead: true,
      };
      const items = await withRetries(() => collect(query(table, input), (item) => item));
      return items.filter(isPresent).map(pageOf);
    },

    putUndoPage: async (orderId, rev, page) => put(undoPageItem(orderId, rev, page)),
    async undoPage(orderId, rev) {
      const item = await withRetries(() => get(table, keys.undoPage(orderId, rev)));
      return item && undoPageOf(item);
    },
  };
}

/** Returns the items of journal entries that do not fit into the state of the same write. */
export const overflowItems = (orderId: string, rev: number, overflow: readonly Page[] = []): readonly Item[] =>
  overflow.map((page, index) => overflowItem(orderId, rev, index + 1, page));
