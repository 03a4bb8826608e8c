import { orderList, servedBy } from '#ports/list-filters';
import { shardCount } from '#ports/records';
import type { ListPosition, OrderFilter } from '#ports/store';
import { dayOf } from '#ports/util/days';
import type { Item } from './items.ts';
import {
  clientDayKey,
  clientReferenceKey,
  dayShardKey,
  listedIdIn,
  listedKey,
  partitions,
  stateShardKey,
  timeIn,
  timeKey,
  timeMax,
} from './keys.ts';
import { merged } from './merge.ts';
import { query } from './reads.ts';
import { type IndexShape, indexes, type Table } from './table.ts';

/** A part of an index, from one sort key to another, both included. */
interface Range {
  readonly from: string;
  readonly to: string;
}

/**
 * Yields positions of orders that may match a filter, newest first, from a position on. It reads one index, as `orderList` says: by
 * reference, orders in Error, days of the client, or all days by shard. Items decide whether an order meets the other conditions. A
 * position without an order ends each day, so that a walk over days without a match can stop there and continue later.
 */
export async function* candidates(table: Table, filter: OrderFilter, after: ListPosition | undefined): AsyncGenerator<ListPosition> {
  const range = rangeOf(filter, after);
  const lastKey = after && listedKey(after.submittedAt, after.orderId);
  for await (const key of listedKeys(table, filter, range)) if (key !== lastKey) yield placeIn(key);
}

const placeIn = (key: string): ListPosition => ({ submittedAt: timeIn(key), orderId: listedIdIn(key) });

async function* listedKeys(table: Table, filter: OrderFilter, range: Range): AsyncGenerator<string> {
  const { client = '', reference = '' } = filter;
  const { index } = servedBy(orderList, { ...filter });
  if (index === 'byReference') return yield* entries(table, indexes.byReference, clientReferenceKey(client, reference), range);
  if (index === 'inError')
    return yield* newestFirst(shards.map((shard) => entries(table, indexes.inError, stateShardKey('error', shard), range)));
  for await (const day of days(table, range)) {
    if (index === 'byClient') yield* entries(table, indexes.byClient, clientDayKey(client, day), range);
    else yield* newestFirst(shards.map((shard) => entries(table, indexes.byDay, dayShardKey(day, shard), range)));
    yield listedKey(Date.parse(day), '');
  }
}

const shards = Array.from({ length: shardCount }, (_, shard) => shard);

/** Returns the range of sort keys. A time without an id sorts before all ids of that time. */
function rangeOf({ submittedAfter = -1, submittedBefore = timeMax }: OrderFilter, after: ListPosition | undefined): Range {
  const before = timeKey(submittedBefore);
  const lastKey = after && listedKey(after.submittedAt, after.orderId);
  return { from: timeKey(submittedAfter + 1), to: lastKey !== undefined && lastKey < before ? lastKey : before };
}

/** Yields the days with orders, newest first. */
async function* days(table: Table, { from, to }: Range): AsyncGenerator<string> {
  const dayIn = (key: string): string => dayOf(timeIn(key));
  const query = { partition: 'pk', value: partitions.calendar, sort: 'sk', from: dayIn(from), to: dayIn(to), limit: 100 };
  for await (const item of descending(table, query)) yield String(item['sk']);
}

const pageSize = 25;

async function* entries(table: Table, { name, partition, sort }: IndexShape, value: string, { from, to }: Range): AsyncGenerator<string> {
  if (from > to) return;
  for await (const item of descending(table, { index: name, partition, value, sort, from, to, limit: pageSize })) yield String(item[sort]);
}

interface Descending extends Range {
  readonly index?: string;
  readonly partition: string;
  readonly value: string;
  readonly sort: string;
  /** Entries that one page of the query reads. */
  readonly limit: number;
}

const descending = (table: Table, { index, partition, value, sort, from, to, limit }: Descending): AsyncGenerator<Item> =>
  query(table, {
    IndexName: index,
    KeyConditionExpression: '#partition = :partition AND #sort BETWEEN :from AND :to',
    ExpressionAttributeNames: { '#partition': partition, '#sort': sort },
    ExpressionAttributeValues: { ':partition': value, ':from': from, ':to': to },
    ScanIndexForward: false,
    Limit: limit,
  });

const newestFirst = (streams: readonly AsyncGenerator<string>[]): AsyncGenerator<string> => merged(streams, (one, other) => one > other);
