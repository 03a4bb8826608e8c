import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headChange, orderItem, stateItem } from '#adapters/aws/dynamodb/items';
import { listAttributes } from '#adapters/aws/dynamodb/lists';
import { indexes } from '#adapters/aws/dynamodb/table';
import { lists, sortKey } from '#ports/lists';
import { headOf, noon, orderRecord, stateRecord } from '../../support/records.ts';

const listKeys = [indexes.listA, indexes.listB, indexes.listC].flatMap(({ partition, sort }) => [partition, sort]);

test('no item of an order has a key of a list of documents, so an order costs no index write for them', () => {
  const state = stateRecord('o1', { processState: 'Error', worklist: 'error', fault: null });
  const items = [orderItem(orderRecord('o1', { reference: 'r1' })), stateItem(state), headChange(headOf(state)).set];
  for (const item of items)
    assert.deepEqual(
      listKeys.filter((key) => Object.hasOwn(item, key)),
      [],
    );
});

test('the documents of a busy list lie in all of its eight shards, and those of any other list in one shard', () => {
  const shardsOf = (isBusy: boolean): ReadonlySet<unknown> =>
    new Set(
      Array.from({ length: 200 }, (_, index) => {
        const entry = { list: isBusy ? lists.openTasks : lists.bulkRuns, sort: sortKey(noon + index, `t${index}`) };
        return listAttributes({ collection: `TASK#t${index}`, id: 'TASK', rev: 1, content: {}, listA: entry })['la'];
      }),
    );
  assert.deepEqual(
    [...shardsOf(true)].toSorted(),
    Array.from({ length: 8 }, (_, shard) => `T#open#${shard}`),
  );
  assert.deepEqual([...shardsOf(false)], ['BULKS']);
});
