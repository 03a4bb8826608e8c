import { randomBytes, randomUUID } from 'node:crypto';
import { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { stateBehind, UnreadableRecordError } from '#ports/errors';
import type { CallerRef, OrderRecord, StateHead, StateRecord } from '#ports/records';
import type { Fence, ListPosition, OrderFilter, OrderPage, Page, Store, Write } from '#ports/store';
import {
  absent,
  allOf,
  anyOf,
  atRev,
  type Condition,
  conditionInput,
  endless,
  expiredBy,
  fencedBy,
  sameSubmission,
  writtenBy,
} from './conditions.ts';
import { dynamoDbDocuments } from './documents.ts';
import {
  breakerItem,
  breakerOf,
  clientItem,
  clientOf,
  headChange,
  headOf,
  headProjection,
  type Item,
  pageOf as journalPageOf,
  orderItem,
  orderOf,
  overflowItem,
  pageItem,
  stateItem,
  stateOf,
  undoPageItem,
  undoPageOf,
} from './items.ts';
import { dayOf, type Key, keys, orderIdIn, pagesOf, partitionOf, partitions, worklistKey } from './keys.ts';
import { leftoversIn } from './leftovers.ts';
import { candidates, isMeant } from './listing.ts';
import { collect, get, getAll, query, scanned } from './reads.ts';
import { isRefused, type RetryOptions, withRetries } from './retry.ts';
import { indexes, type Table } from './table.ts';
import { type Answer, deleteIf, itemIn, putAllIf, putIf, setIf } from './update-if.ts';

export interface DynamoDbStoreOptions extends Table, RetryOptions {
  /** How long finished orders are kept; without it, forever. DynamoDB's time-to-live deletes them. */
  readonly retentionMs?: number | undefined;
  /** Orders examined for one page of a list, whether the filter keeps them or not. */
  readonly lookedMax?: number;
}

type Both = { readonly order: OrderRecord; readonly state: StateRecord };
type Listed = OrderPage['items'][number];

/** Orders read at once for a list: two items each, within the 100 items of a batch. */
const listChunk = 50;
/** The default of `lookedMax`. After that many orders the page ends, and the caller may continue. */
const lookedMaxDefault = 1000;

/** The store in one DynamoDB table. No transaction spans a table and a queue, so messages are sent after the write. */
export function dynamoDbStore({
  client,
  table: name,
  clock,
  random,
  retentionMs,
  lookedMax = lookedMaxDefault,
}: DynamoDbStoreOptions): Store {
  const table: Table = { client, table: name };
  const patience: RetryOptions = { clock, ...(random ? { random } : {}) };
  const attempt = <T>(work: () => Promise<T>): Promise<T> => withRetries(work, patience);
  const rest = leftoversIn(table, attempt);
  const nowSeconds = (): number => clock.now() / 1000;

  /** Whether an item counts as present. DynamoDB may delete an expired item days late. */
  const isLive = (item: Item | null | undefined): item is Item => !!item && !(Number(item['expiresAt']) < nowSeconds());

  const expiryOf = ({ processState, worklist, updatedAt }: StateHead): number | undefined =>
    retentionMs === undefined || processState !== 'Processed' || worklist !== null
      ? undefined
      : Math.floor((updatedAt + retentionMs) / 1000);

  const knownDays = new Set<string>();
  /**
   * Records a day before this process's first order of it. A day without orders is harmless; an order without its day would be missing
   * from lists.
   */
  async function noteDay(submittedAt: number): Promise<void> {
    const day = dayOf(submittedAt);
    if (knownDays.has(day)) return;
    await client.send(new PutCommand({ TableName: name, Item: keys.day(day) }));
    knownDays.add(day);
  }

  /** Writes both records, or returns the ones that exist. Records of an expired order are replaced. */
  async function putBoth(order: OrderRecord, state: StateRecord, overflow: readonly Item[], left?: Item): Promise<Both | undefined> {
    const expiresAt = order.caller ? undefined : expiryOf(state);
    const unused = anyOf(absent, expiredBy(nowSeconds()));
    const put = (item: Item, when: Condition) => ({
      Put: { TableName: name, Item: item, ...conditionInput(when), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const },
    });
    const puts = [
      put(orderItem(order, expiresAt), left ? anyOf(unused, sameSubmission(left)) : unused),
      put(stateItem(state, expiresAt), unused),
      ...(retentionMs === undefined || !order.caller
        ? []
        : [{ Put: { TableName: name, Item: { ...keys.called(order.caller.orderId, order.orderId) } } }]),
      ...overflow.map((Item) => ({ Put: { TableName: name, Item } })),
    ];
    try {
      await client.send(new TransactWriteCommand({ TransactItems: puts }));
      return undefined;
    } catch (error) {
      if (!isRefused(error)) throw error;
      const [first, second] = (error.CancellationReasons ?? []).map(({ Item: item }) => itemIn(item));
      // The state is read after the order: if a concurrent write created the order, its state exists by then.
      const wonOrder = first ?? (await get(table, keys.order(order.orderId)));
      const wonState = second ?? (await get(table, keys.state(order.orderId)));
      if (wonOrder && isLive(wonState)) return { order: orderOf(wonOrder), state: stateOf(wonState) };
      if (!wonOrder || left) throw error;
      await rest.discard(wonOrder, nowSeconds());
      return putBoth(order, state, overflow, wonOrder);
    }
  }

  async function stored(orderId: string): Promise<readonly (Item | undefined)[]> {
    const wanted = [keys.order(orderId), keys.state(orderId)];
    const items = await getAll(table, wanted, { ...patience, consistent: true });
    return wanted.map(({ sk }) => items.find((item) => item['sk'] === sk));
  }

  /** Returns the order that called this one. While it exists, it may compensate this one or request its answer. */
  async function callerOf(orderId: string): Promise<string | undefined> {
    const order = await attempt(() => get(table, keys.order(orderId), ['caller']));
    return order?.['caller'] === undefined ? undefined : (JSON.parse(String(order['caller'])) as CallerRef).orderId;
  }

  /** Whether an order still keeps its called orders: it exists and has no expiry. */
  async function keepsWhatItCalled(orderId: string): Promise<boolean> {
    const state = await attempt(() => get(table, keys.state(orderId), ['pk', 'expiresAt']));
    return state !== undefined && state['expiresAt'] === undefined;
  }

  async function conditional(
    head: StateHead,
    when: Fence,
    write: (expiresAt: number | undefined, when: Condition) => Promise<Answer>,
    patchId?: string,
  ): Promise<Write> {
    // If the response to our write was lost, the retry is refused and finds our own write. That counts as written.
    const settled = (answer: Answer): Answer =>
      answer.outcome === 'refused' && patchId !== undefined && answer.current?.['patchId'] === patchId ? { outcome: 'written' } : answer;
    const due = expiryOf(head);
    const caller = due === undefined ? undefined : await callerOf(head.orderId);
    const expiresAt = caller !== undefined && (await keepsWhatItCalled(caller)) ? undefined : due;
    const fence = fencedBy(when);
    // An order that continues must first remove the expiry of its other records. Without an expiry, one write suffices.
    let answer = settled(await attempt(() => write(expiresAt, expiresAt === undefined ? allOf(fence, endless) : fence)));
    if (expiresAt === undefined && answer.outcome === 'refused' && isLive(answer.current) && isAt(answer.current, when)) {
      const isWhole = await rest.keep(head.orderId, head.rev);
      answer = settled(await attempt(() => write(undefined, isWhole ? fence : allOf(fence, endless))));
    }
    if (answer.outcome === 'refused') return { outcome: 'refused', current: isLive(answer.current) ? stateOf(answer.current) : null };
    // The caller may have ended meanwhile, and have seen this order still running.
    if (due !== undefined && expiresAt === undefined && caller !== undefined && !(await keepsWhatItCalled(caller)))
      await rest.release(head.orderId, due).catch(() => undefined);
    if (expiresAt !== undefined) await expireRest({ ...keys.state(head.orderId), rev: head.rev, expiresAt });
    return answer;
  }

  /**
   * Gives the other records their expiry after the write that ends the order. Earlier would be wrong: that write may be refused, and the
   * records of a live order would expire. A failure here only delays the deletion, until the next load, write or submission of the order.
   */
  const expireRest = ({ pk, rev, expiresAt }: Item): Promise<void> =>
    rest.expire(orderIdIn(String(pk)), Number(rev), Number(expiresAt)).catch(() => undefined);

  /** Writes a page. A repetition changes nothing, and a page of an expired order with the same id is replaced. */
  const putAside = (item: Item): Promise<void> =>
    attempt(() => putIf(table, item, anyOf(absent, expiredBy(nowSeconds())))).then(() => undefined);

  /** Returns the orders that match a filter. An unreadable order is left out. */
  async function meant(ids: readonly string[], filter: OrderFilter): Promise<readonly Listed[]> {
    const wanted = ids.map((id) => [keys.order(id), keys.state(id)] as const);
    const items = await getAll(table, wanted.flat(), { ...patience, consistent: false });
    const found = new Map(items.map((item) => [textOf(item as unknown as Key), item]));
    return wanted.flatMap(([orderKey, stateKey]) => {
      const [order, state] = [found.get(textOf(orderKey)), found.get(textOf(stateKey))];
      const listed = order && isLive(state) ? unlessUnreadable(() => ({ order: orderOf(order), state: headOf(state) })) : undefined;
      return listed && isMeant(filter, listed.order, listed.state) ? [listed] : [];
    });
  }

  return {
    writesAndSendsAtomically: false,

    async create(order, state, { overflow }) {
      await attempt(() => noteDay(order.submittedAt));
      const pages = overflowItems(order.orderId, state.rev - 1, overflow);
      const first = await attempt(() => putBoth(order, state, pages));
      // If the response to our write was lost, the existing order is our own.
      const mine = state.writeIds.at(-1)?.id;
      const isOurs = mine !== undefined && first?.state.writeIds.some(({ id }) => id === mine);
      return !first || isOurs ? { outcome: 'written' } : { outcome: 'exists', order: first.order };
    },

    async load(orderId) {
      const [order, state] = await attempt(() => stored(orderId));
      if (!order || !isLive(state)) return undefined;
      // The process that ended the order crashed before it reached these records, or is still at work.
      if (state['expiresAt'] !== undefined && order['expiresAt'] !== state['expiresAt']) await expireRest(state);
      const submitted = orderOf(order);
      return { order: submitted, state: stateBehind(submitted, () => stateOf(state)) };
    },

    async head(orderId) {
      const item = await attempt(() => get(table, keys.state(orderId), headProjection));
      return isLive(item) ? headOf(item) : undefined;
    },

    update(state, when, { overflow }) {
      const pages = overflowItems(state.orderId, when.rev, overflow);
      return conditional(state, when, (expiresAt, condition) => {
        const item = stateItem(state, expiresAt);
        return pages.length === 0 ? putIf(table, item, condition) : putAllIf(table, item, pages, condition);
      });
    },
    patch(head, when) {
      const patchId = randomBytes(6).toString('base64url');
      const write = (expiresAt: number | undefined, condition: Condition): Promise<Answer> => {
        const { set, remove } = headChange(head, expiresAt);
        return setIf(table, keys.state(head.orderId), { set: { ...set, patchId }, remove }, condition);
      };
      return conditional(head, when, write, patchId);
    },

    due: (worklist, shard, until, limit) => {
      const { name: index, partition, sort } = indexes.worklist;
      const input = {
        IndexName: index,
        KeyConditionExpression: '#partition = :partition AND #sort <= :until',
        ExpressionAttributeNames: { '#partition': partition, '#sort': sort },
        ExpressionAttributeValues: { ':partition': worklistKey(worklist, shard), ':until': until },
        Limit: limit,
      };
      return attempt(() => collect(query(table, input), idOf, limit));
    },

    /**
     * Scans the table itself, because the index may be what lacks an order. Orders without a deadline are left out: finished orders only
     * grow in number. Each order has about four items.
     */
    async sweep(after, limit) {
      const input = {
        FilterExpression: 'sk = :state AND attribute_exists(nextDueAt)',
        ExpressionAttributeValues: { ':state': 'STATE' },
        ProjectionExpression: 'pk',
        Limit: 4 * limit,
      };
      const { items, next } = await attempt(() => scanned(table, input, placeOf(after)));
      return { ids: items.map(idOf), ...(next === undefined ? {} : { next: JSON.stringify(next) }) };
    },

    putPage: async (orderId, rev, page) => putAside(pageItem(orderId, rev, page)),
    async pages(orderId) {
      const input = {
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': partitionOf(orderId), ':prefix': pagesOf.prefix },
        ConsistentRead: true,
      };
      const items = await attempt(() => collect(query(table, input), (item) => item));
      return items.filter(isLive).map(journalPageOf);
    },

    putUndoPage: async (orderId, rev, page) => putAside(undoPageItem(orderId, rev, page)),
    async undoPage(orderId, rev) {
      const item = await attempt(() => get(table, keys.undoPage(orderId, rev)));
      return item && undoPageOf(item);
    },

    list: (filter, after, limit) =>
      attempt(async () => {
        const found: Listed[] = [];
        const stream = candidates(table, filter, after);
        let last: ListPosition | undefined;
        // A filter without an index discards most orders, so later reads are larger.
        for (
          let looked = 0, wanted = Math.min(listChunk, limit);
          found.length < limit && looked < lookedMax;
          wanted = Math.min(listChunk, lookedMax - looked)
        ) {
          const places = await nextOf(stream, wanted);
          found.push(
            ...(await meant(
              places.flatMap(({ orderId }) => (orderId === '' ? [] : [orderId])),
              filter,
            )),
          );
          looked += places.length;
          last = places.length < wanted ? undefined : places.at(-1);
          if (!last) break;
        }
        return pageOf(found, limit, last);
      }),

    putClient: (record) => attempt(() => client.send(new PutCommand({ TableName: name, Item: clientItem(record) }))).then(() => undefined),
    async client(id) {
      const item = await attempt(() => get(table, keys.client(id)));
      return item && clientOf(item);
    },
    clients: () => {
      const input = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': partitions.clients }, ConsistentRead: true };
      return attempt(() => collect(query(table, input), clientOf));
    },

    async recordIntent({ orderId, idempotencyKey, requestId }) {
      const key = keys.intent(orderId, idempotencyKey);
      const writeId = randomUUID();
      const unused = anyOf(absent, expiredBy(nowSeconds()));
      const answer = await attempt(() => putIf(table, { ...key, requestId, writeId }, unused));
      // If the response to our write was lost, the retry is refused and finds our own write. That counts as written.
      if (answer.outcome === 'refused' && answer.current?.['writeId'] !== writeId)
        return { outcome: 'refused', requestId: String(answer.current?.['requestId']) };
      const withdraw = () => attempt(() => deleteIf(table, key, writtenBy(writeId))).then(() => undefined);
      return { outcome: 'recorded', withdraw };
    },

    async breaker(agent) {
      const item = await attempt(() => get(table, keys.breaker(agent)));
      return item && breakerOf(item);
    },
    async putBreaker(breaker, loadedRev) {
      const answer = await attempt(() => putIf(table, breakerItem(breaker), loadedRev === 0 ? absent : atRev(loadedRev)));
      return answer.outcome === 'written' ? answer : { outcome: 'refused', current: answer.current && breakerOf(answer.current) };
    },

    ...dynamoDbDocuments(table, attempt),

    /** Does nothing: DynamoDB's time-to-live deletes expired items at no cost. */
    forget: async () => 0,
    hasForgotten: async () => false,
  };
}

const overflowItems = (orderId: string, rev: number, overflow: readonly Page[] = []): readonly Item[] =>
  overflow.map((page, index) => overflowItem(orderId, rev, index + 1, page));

/** Returns a page of a list. Orders read beyond the limit are read again for the next page. */
function pageOf(found: readonly Listed[], limit: number, last: ListPosition | undefined): OrderPage {
  const items = found.slice(0, limit);
  const end = found.length > limit ? items.at(-1)?.order : undefined;
  const next = end ? { submittedAt: end.submittedAt, orderId: end.orderId } : last;
  return { items, ...(next ? { next } : {}) };
}

const isAt = (item: Item, { epoch, rev }: Fence): boolean => item['epoch'] === epoch && item['rev'] === rev;
/** Returns the position where a sweep continues. Positions of another kind of store are ignored. */
const placeOf = (after: string | undefined): Key | undefined => (after?.startsWith('{') ? (JSON.parse(after) as Key) : undefined);
const idOf = (item: Item): string => orderIdIn(String(item['pk']));
const textOf = ({ pk, sk }: Key): string => `${pk} ${sk}`;

/** Returns the next items of a stream, which remains open. */
async function nextOf<T>(stream: AsyncIterator<T>, count: number): Promise<readonly T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const next = await stream.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}
