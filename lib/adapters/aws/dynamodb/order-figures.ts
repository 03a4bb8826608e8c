import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { collections } from '#ports/documents';
import { shardsOf } from '#ports/lists';
import type { FinishedByMinute, OrderFigures } from '#ports/order-figures';
import { shardCount } from '#ports/records';
import { dayOf } from '#ports/util/days';
import type { StoreContext } from './context.ts';
import type { Item } from './items.ts';
import { keys, orderIdIn, stateShardKey, timeIn, timeMax, worklistKey } from './keys.ts';
import { indexOf } from './lists.ts';
import { countRange, get, query } from './reads.ts';
import { type IndexShape, indexes, type Table } from './table.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** The counts of finished orders are kept for two days. */
const keptMs = 2 * dayMs;

const shards = Array.from({ length: shardCount }, (_, shard) => shard);

/** Counts orders by the sparse indexes, and finished ones by sums that the processes write. */
export function dynamoDbOrderFigures({ table, withRetries }: StoreContext): OrderFigures {
  const countShards = async (index: IndexShape, partitions: readonly string[], range: Range, limit: number): Promise<number> => {
    const counts = await Promise.all(partitions.map((partition) => countRange(table, { index, partition, ...range }, limit)));
    return Math.min(
      limit,
      counts.reduce((sum, count) => sum + count, 0),
    );
  };
  const inState = (state: 'error' | 'pending' | 'waiting', limit: number): Promise<number> =>
    countShards(
      indexes.inError,
      shards.map((shard) => stateShardKey(state, shard)),
      everyText,
      limit,
    );

  return {
    countUnfinished: (limit) =>
      withRetries(async () => {
        const due = shards.map((shard) => worklistKey('due', shard));
        const [pending, error, waiting, withDeadline, oldestAt] = await Promise.all([
          inState('pending', limit),
          inState('error', limit),
          inState('waiting', limit),
          countShards(indexes.worklist, due, { from: 0, to: timeMax }, 2 * limit),
          oldestIn(table),
        ]);
        // Pending orders have a deadline, so they are subtracted. An order in Error has a deadline until its alert is sent; until then it
        // counts as `processing`, too.
        const processing = Math.min(limit, waiting + Math.max(0, withDeadline - pending));
        return { pending, processing, error, oldestAt };
      }),
    countListed: ({ list, from = everyText.from, to = everyText.to }, limit) =>
      withRetries(() => countShards(indexOf[list.index], shardsOf(list), { from, to }, limit)),
    countFinished: (from, before, limit) =>
      withRetries(async () => {
        let sum = 0;
        for (let day = from - (from % dayMs); day < before; day += dayMs) {
          for await (const item of query(table, {
            KeyConditionExpression: 'pk = :pk',
            ExpressionAttributeValues: { ':pk': collectionOf(day) },
          }))
            for (const [minute, count] of minutesIn(item)) if (minute + minuteMs > from && minute < before) sum += count;
        }
        return Math.min(limit, sum);
      }),
    addFinished: async (finished) => {
      for (const [hour, minutes] of hoursIn(finished)) await withRetries(() => add(table, hour, minutes));
    },
  };
}

interface Range {
  readonly from: string | number;
  readonly to: string | number;
}

/** All sort keys of ASCII characters. */
const everyText = { from: ' ', to: '\u007f' } as const;

/** Returns the earliest submission time among some orders of each shard: the oldest of each listed state, and the one that is due first. */
async function oldestIn(table: Table): Promise<number | null> {
  const { name, partition } = indexes.inError;
  const firstOf = async (index: string, attribute: string, value: string): Promise<Item | undefined> => {
    const condition = { KeyConditionExpression: '#partition = :partition', ExpressionAttributeNames: { '#partition': attribute } };
    for await (const item of query(table, { IndexName: index, ...condition, ExpressionAttributeValues: { ':partition': value }, Limit: 1 }))
      return item;
    return undefined;
  };
  const listed = shards.flatMap((shard) =>
    (['error', 'pending', 'waiting'] as const).map(async (state) => {
      const item = await firstOf(name, partition, stateShardKey(state, shard));
      return item ? [timeIn(String(item['listedAt']))] : [];
    }),
  );
  const due = shards.map(async (shard) => {
    const item = await firstOf(indexes.worklist.name, indexes.worklist.partition, worklistKey('due', shard));
    const state = item && (await get(table, keys.state(orderIdIn(String(item['pk']))), ['submittedAt', 'processState']));
    return state && state['processState'] !== 'Processed' ? [Number(state['submittedAt'])] : [];
  });
  const found = (await Promise.all([...listed, ...due])).flat().filter(Number.isFinite);
  return found.length === 0 ? null : Math.min(...found);
}

const collectionOf = (at: number): string => collections.finished(dayOf(at));
const minutePrefix = 'm';

/**
 * Groups the counts by hour: one item holds the minutes of an hour. Such an item is smaller than a kilobyte, so that an addition takes one
 * write unit.
 */
function hoursIn(finished: FinishedByMinute): ReadonlyMap<number, FinishedByMinute> {
  const hours = Map.groupBy(finished, ([minute]) => minute - (minute % hourMs));
  return new Map([...hours].map(([hour, minutes]) => [hour, new Map(minutes)]));
}

async function add({ client, table }: Table, hour: number, minutes: FinishedByMinute): Promise<void> {
  const sums = [...minutes].map(([minute, count], index) => ({ name: `${minutePrefix}${(minute - hour) / minuteMs}`, count, index }));
  await client.send(
    new UpdateCommand({
      TableName: table,
      Key: { pk: collectionOf(hour), sk: String(hour) },
      UpdateExpression: `SET #end = :end ADD ${sums.map(({ index }) => `#m${index} :m${index}`).join(', ')}`,
      ExpressionAttributeNames: { '#end': 'expiresAt', ...Object.fromEntries(sums.map(({ name, index }) => [`#m${index}`, name])) },
      ExpressionAttributeValues: {
        ':end': Math.ceil((hour + keptMs) / 1000),
        ...Object.fromEntries(sums.map(({ count, index }) => [`:m${index}`, count])),
      },
    }),
  );
}

const minutesIn = (item: Item): readonly (readonly [minute: number, count: number])[] =>
  Object.entries(item).flatMap(([name, value]) =>
    name.startsWith(minutePrefix) ? [[Number(item['sk']) + Number(name.slice(1)) * minuteMs, Number(value)] as const] : [],
  );
