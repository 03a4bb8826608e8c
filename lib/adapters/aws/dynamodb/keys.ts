import { hash } from 'node:crypto';
import { shardOf } from '#ports/records';

/** A key of the table. This file builds all keys but those of documents, whose partition is the name of their collection. */
export interface Key {
  readonly pk: string;
  readonly sk: string;
}

const orderPrefix = 'ORDER#';
/** The prefix of the partitions with the intents of agents. */
const intentPrefix = 'INTENT#';
/** The prefix of the partitions with circuit breakers, one for each agent and each consumer. */
const breakerPrefix = 'BREAKER#';
const historyPrefix = 'HISTORY#';
const undoPrefix = 'UNDO#';
const calledPrefix = 'CALLED#';
const calendar = 'DAYS';
const clients = 'CLIENTS';
export const clientPrefix = 'CLIENT#';

export const keys = {
  order: (orderId: string): Key => ({ pk: partitionOf(orderId), sk: 'ORDER' }),
  state: (orderId: string): Key => ({ pk: partitionOf(orderId), sk: 'STATE' }),
  page: (orderId: string, rev: number): Key => ({ pk: partitionOf(orderId), sk: `${historyPrefix}${String(rev).padStart(10, '0')}` }),
  /** A page of the journal entries of one write that do not fit into the item of the state beside it. It follows the page of the same rev. */
  overflow: (orderId: string, rev: number, part: number): Key => {
    const { pk, sk } = keys.page(orderId, rev);
    return { pk, sk: `${sk}#${String(part).padStart(2, '0')}` };
  },
  /** A partition apart from the order, because IAM grants rights by partition: an agent may write intents and nothing else. */
  intent: (orderId: string, idempotencyKey: string): Key => ({ pk: intentPartitionOf(orderId), sk: sortable(idempotencyKey) }),
  undoPage: (orderId: string, rev: number): Key => ({ pk: partitionOf(orderId), sk: `${undoPrefix}${rev}` }),
  /** The mark that an order called another one, kept as long as the caller. */
  called: (orderId: string, called: string): Key => ({ pk: partitionOf(orderId), sk: `${calledPrefix}${called}` }),
  breaker: (agent: string): Key => ({ pk: breakerPartitionOf(agent), sk: 'BREAKER' }),
  client: (id: string): Key => ({ pk: clients, sk: clientPrefix + id }),
  /** An app client of the token issuer, and the client for which it acts. */
  appClient: (appClient: string): Key => ({ pk: clients, sk: `APP#${appClient}` }),
  /** A day with orders. Lists walk these days instead of guessing how far back orders exist. */
  day: (day: string): Key => ({ pk: calendar, sk: day }),
} as const;

/** Returns the partition of an order's records, except for the intents of agents. */
export const partitionOf = (orderId: string): string => `${orderPrefix}${orderId}`;
export const intentPartitionOf = (orderId: string): string => `${intentPrefix}${orderId}`;
export const breakerPartitionOf = (agent: string): string => `${breakerPrefix}${agent}`;
export const orderIdIn = (pk: string): string => pk.slice(orderPrefix.length);

export const partitions = { calendar, clients } as const;
export const pagesOf = { prefix: historyPrefix } as const;

/** Whether the key is that of a page of the journal or of the undo list. */
export const isPage = (sk: string): boolean => sk.startsWith(historyPrefix) || sk.startsWith(undoPrefix);
/** Whether the key is that of an exception or a task of an order. */
export const isCauseRecord = (sk: string): boolean => sk.startsWith('EXCEPTION#') || sk.startsWith('TASK#');
/** Returns the called order that a key names, if any. */
export const calledIn = (sk: string): string | undefined => (sk.startsWith(calledPrefix) ? sk.slice(calledPrefix.length) : undefined);
/** Returns the rev under which a page was stored. */
export const revOf = (sk: string): number => Number(sk.split('#')[1]);

/** Returns the partition of the worklist: orders that are due, or orders in Error. Its entries are sorted by the time at which they are due. */
export const worklistKey = (worklist: 'due' | 'error', shard: number): string => `${worklist}#${shardText(shard)}`;
export const worklistIn = (key: string): 'due' | 'error' => (key.startsWith('error') ? 'error' : 'due');
export const worklistKeyOf = (worklist: 'due' | 'error', orderId: string): string => worklistKey(worklist, shardOf(orderId));

/** Returns the partition of another index that lists orders in Error, pending orders, or orders at work without a deadline, sorted by submission time. */
export const stateShardKey = (state: 'error' | 'pending' | 'waiting', shard: number): string => `${state}#${shardText(shard)}`;

/** Returns a valid sort key: the text, or its hash if it exceeds the 1,024 bytes that DynamoDB allows. */
const sortable = (text: string): string => (Buffer.byteLength(text) <= 1024 ? text : hash('sha256', text));

const shardText = (shard: number): string => String(shard).padStart(2, '0');

/** Returns one of a day's partitions. A day has as many as there are shards, so that a busy day has no hot partition. */
export const dayShardKey = (day: string, shard: number): string => `${day}#${shardText(shard)}`;
export const clientDayKey = (client: string, day: string): string => `${client}#${day}`;
export const clientReferenceKey = (client: string, reference: string): string => `${client}#${reference}`;

/** The largest time in thirteen digits: the year 2286. */
export const timeMax = 9_999_999_999_999;
export const timeKey = (at: number): string => String(Math.min(Math.max(0, at), timeMax)).padStart(13, '0');

/** Returns a position in a list, as the indexes sort it: by time, then by id. */
export const listedKey = (submittedAt: number, orderId: string): string => `${timeKey(submittedAt)}#${orderId}`;
export const listedIdIn = (key: string): string => key.slice(14);
export const timeIn = (key: string): number => Number(key.slice(0, 13));
