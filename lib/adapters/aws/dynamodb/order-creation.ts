import { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { dayOf } from '#ports/util/days';
import { anyOf, type Condition, conditionInput, sameSubmission, unused } from './conditions.ts';
import type { StoreContext } from './context.ts';
import { type Item, orderItem, orderOf, stateItem, stateOf } from './items.ts';
import { keys } from './keys.ts';
import { leftoversIn } from './leftovers.ts';
import { overflowItems } from './pages.ts';
import { get } from './reads.ts';
import { expiryOf } from './retention.ts';
import { isRefused } from './retry.ts';
import { itemIn } from './update-if.ts';

interface NewOrder {
  readonly order: OrderRecord;
  readonly state: StateRecord;
  readonly pages: readonly Item[];
}

type Existing = Pick<NewOrder, 'order' | 'state'>;

/** Creates orders: writes the submission and the state in one transaction, or returns the earlier order of the same id. */
export function dynamoDbCreation(context: StoreContext): Pick<Store, 'create'> {
  const { table, withRetries } = context;
  const knownDays = new Set<string>();

  /**
   * Records a day before this process creates its first order of that day. A day without orders is harmless; an order without its day
   * would be missing from lists.
   */
  async function noteDay(submittedAt: number): Promise<void> {
    const day = dayOf(submittedAt);
    if (knownDays.has(day)) return;
    await table.client.send(new PutCommand({ TableName: table.table, Item: keys.day(day) }));
    knownDays.add(day);
  }

  return {
    async create(order, state, { overflow }) {
      await withRetries(() => noteDay(order.submittedAt));
      const pages = overflowItems(order.orderId, state.rev - 1, overflow);
      const first = await withRetries(() => putUnlessExists(context, { order, state, pages }));
      // If the response to our write was lost, the retry finds an existing order: our own.
      const mine = state.writeIds.at(-1)?.id;
      const isOurs = mine !== undefined && first?.state.writeIds.some(({ id }) => id === mine);
      return !first || isOurs ? { outcome: 'written' } : { outcome: 'exists', order: first.order };
    },
  };
}

/**
 * Writes the submission and the state, or returns those that exist. The records of an expired order are replaced: `expired` is its
 * submission, after the other records of that order were discarded.
 */
async function putUnlessExists(context: StoreContext, created: NewOrder, expired?: Item): Promise<Existing | undefined> {
  const { table, nowSeconds, isPresent } = context;
  const { orderId } = created.order;
  try {
    await table.client.send(new TransactWriteCommand({ TransactItems: putsOf(context, created, expired) }));
    return undefined;
  } catch (error) {
    if (!isRefused(error)) throw error;
    const [first, second] = (error.CancellationReasons ?? []).map(({ Item: item }) => itemIn(item));
    // The state is read after the order: if a concurrent write created the order, its state exists by then.
    const wonOrder = first ?? (await get(table, keys.order(orderId)));
    const wonState = second ?? (await get(table, keys.state(orderId)));
    if (wonOrder && isPresent(wonState)) return { order: orderOf(wonOrder), state: stateOf(wonState) };
    // Either both records were removed meanwhile, or this is the retry below, and it has lost another race.
    if (!wonOrder || expired) throw error;
    await leftoversIn(context).discard(wonOrder, nowSeconds());
    return putUnlessExists(context, created, wonOrder);
  }
}

/** Returns the parts of the transaction: the order, its state, the mark at its caller, and pages that exceed the state. */
function putsOf(context: StoreContext, { order, state, pages }: NewOrder, expired: Item | undefined) {
  const { table: TableName } = context.table;
  const { orderId, caller } = order;
  const expiresAt = caller ? undefined : expiryOf(context, state);
  const free = unused(context.nowSeconds());
  const put = (Item: Item) => ({ Put: { TableName, Item } });
  const putWhen = (Item: Item, when: Condition) => ({
    Put: { TableName, Item, ...conditionInput(when), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const },
  });
  return [
    putWhen(orderItem(order, expiresAt), expired ? anyOf(free, sameSubmission(expired)) : free),
    putWhen(stateItem(state, expiresAt), free),
    ...(context.retentionMs === undefined || !caller ? [] : [put({ ...keys.called(caller.orderId, orderId) })]),
    ...pages.map(put),
  ];
}
