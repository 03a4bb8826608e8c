import { hash } from 'node:crypto';
import { shardOf } from '#ports/records';

/** Every key of the table and of its indexes: what is not made here does not exist. */
export interface Key {
  readonly pk: string;
  readonly sk: string;
}

const orderPrefix = 'ORDER#';
/** What the partitions begin with in which agents note their askings. */
export const intentPrefix = 'INTENT#';
/** What the partitions begin with in which agents say that their services are away: one for each agent. */
export const breakerPrefix = 'BREAKER#';
const historyPrefix = 'HISTORY#';
const undoPrefix = 'UNDO#';
const calledPrefix = 'CALLED#';
const calendar = 'DAYS';
const clients = 'CLIENTS';

export const keys = {
  order: (orderId: string): Key => ({ pk: partitionOf(orderId), sk: 'ORDER' }),
  state: (orderId: string): Key => ({ pk: partitionOf(orderId), sk: 'STATE' }),
  page: (orderId: string, rev: number): Key => ({ pk: partitionOf(orderId), sk: `${historyPrefix}${String(rev).padStart(10, '0')}` }),
  /** What a write adds beyond what its state has room for: behind the page of the same rev. */
  overflow: (orderId: string, rev: number, part: number): Key => {
    const { pk, sk } = keys.page(orderId, rev);
    return { pk, sk: `${sk}#${String(part).padStart(2, '0')}` };
  },
  /** Apart from the order, so that whoever may write these may write nothing else: IAM goes by the partition. */
  intent: (orderId: string, idempotencyKey: string): Key => ({ pk: intentPartitionOf(orderId), sk: sortable(idempotencyKey) }),
  undoPage: (orderId: string, rev: number): Key => ({ pk: partitionOf(orderId), sk: `${undoPrefix}${rev}` }),
  /** That an order has called another, which is kept as long as it is itself. */
  called: (orderId: string, called: string): Key => ({ pk: partitionOf(orderId), sk: `${calledPrefix}${called}` }),
  breaker: (agent: string): Key => ({ pk: breakerPartitionOf(agent), sk: 'BREAKER' }),
  client: (id: string): Key => ({ pk: clients, sk: `CLIENT#${id}` }),
  /** A day on which orders came: lists walk these instead of guessing how far back there is anything. */
  day: (day: string): Key => ({ pk: calendar, sk: day }),
} as const;

/** All that belongs to an order lies in one partition, but what agents note of their askings. */
export const partitionOf = (orderId: string): string => `${orderPrefix}${orderId}`;
export const intentPartitionOf = (orderId: string): string => `${intentPrefix}${orderId}`;
export const breakerPartitionOf = (agent: string): string => `${breakerPrefix}${agent}`;
export const orderIdIn = (pk: string): string => pk.slice(orderPrefix.length);

export const partitions = { calendar, clients } as const;
export const pagesOf = { prefix: historyPrefix } as const;

/** Whether it is a page of the journal, or of what can be undone; and the revision under which it was put aside. */
export const isPage = (sk: string): boolean => sk.startsWith(historyPrefix) || sk.startsWith(undoPrefix);
/** The order that was called, where the place says so. */
export const calledIn = (sk: string): string | undefined => (sk.startsWith(calledPrefix) ? sk.slice(calledPrefix.length) : undefined);
export const revOf = (sk: string): number => Number(sk.split('#')[1]);

/** Where a live order stands, and one that is held; by time. */
export const worklistKey = (worklist: 'due' | 'error', shard: number): string => `${worklist}#${shardText(shard)}`;
export const worklistIn = (key: string): 'due' | 'error' => (key.startsWith('error') ? 'error' : 'due');
export const worklistKeyOf = (worklist: 'due' | 'error', orderId: string): string => worklistKey(worklist, shardOf(orderId));

/** Where an order in Error is listed, by the time of its submission. */
export const errorShardKey = (shard: number): string => `error#${shardText(shard)}`;

/** DynamoDB takes 1,024 bytes to sort by. */
const sortable = (text: string): string => (Buffer.byteLength(text) <= 1024 ? text : hash('sha256', text));

const shardText = (shard: number): string => String(shard).padStart(2, '0');

export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
/** The clients of one day write to as many partitions as there are shards, so that a busy day has no hot one. */
export const dayShardKey = (day: string, shard: number): string => `${day}#${shardText(shard)}`;
export const clientDayKey = (client: string, day: string): string => `${client}#${day}`;
export const clientReferenceKey = (client: string, reference: string): string => `${client}#${reference}`;

/** Thirteen digits reach to the year 2286. */
export const timeMax = 9_999_999_999_999;
export const timeKey = (at: number): string => String(Math.min(Math.max(0, at), timeMax)).padStart(13, '0');

/** A place in a list, as the indexes sort it: by time, then by id. */
export const listedKey = (submittedAt: number, orderId: string): string => `${timeKey(submittedAt)}#${orderId}`;
export const listedIdIn = (key: string): string => key.slice(14);
export const timeIn = (key: string): number => Number(key.slice(0, 13));
