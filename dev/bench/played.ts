import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { orderItem, stateItem } from '#adapters/aws/dynamodb/items';
import { partitionOf } from '#adapters/aws/dynamodb/keys';
import { indexes } from '#adapters/aws/dynamodb/table';
import type { MeterEntry } from '#adapters/aws/meter';
import type { Outcome } from '#core/data/state';
import { readConfig } from '#runtime/config';
import type { Invoked, SubmissionBody } from '../../test/adapters/aws/invocations.ts';
import { itemBytes } from '../../test/adapters/aws/support.ts';
import { figuresOf, type OrderFigures, requestsIn } from './budget.ts';
import { order } from './shop.ts';

export type Print = (row: object) => void;

export interface Played {
  readonly orderId: string;
  readonly figures: OrderFigures;
  /** Size at submission. Each started kilobyte of the two items costs two write units of the transaction. */
  readonly created: { readonly orderBytes: number; readonly stateBytes: number };
  readonly requests: { readonly [call: string]: number };
}

let keys = 0;
export const nextKey = (): string => `order-${++keys}`;

/** Runs one order alone from its submission to its end, and returns its requests. */
export async function play(
  invoked: Invoked,
  workflow: string,
  {
    reference,
    trouble,
    outcome = 'completed',
  }: { readonly reference?: string; readonly trouble?: () => Promise<void>; readonly outcome?: Outcome } = {},
): Promise<Played> {
  const body: SubmissionBody = { workflow, order, ...(reference === undefined ? {} : { reference }) };
  invoked.reset();
  const orderId = await invoked.submit(nextKey(), body);
  const created = await invoked.store.load(orderId);
  await trouble?.();
  await invoked.settle();
  const entries = invoked.meter.entries().filter((entry) => !isOfPass(entry));
  await mustHaveEnded(invoked, orderId, outcome);
  return {
    orderId,
    figures: figuresOf(entries, invoked.stateBytes(orderId)),
    created: {
      orderBytes: created ? itemBytes(orderItem(created.order)) : 0,
      stateBytes: created ? itemBytes(stateItem(created.state)) : 0,
    },
    requests: requestsIn(entries),
  };
}

/** Whether a request belongs to the supervisor's pass. A pass queries the worklist even if no order is due, so no order pays for it. */
const isOfPass = ({ role, operation }: MeterEntry): boolean => role === 'supervisor' && operation === 'Query';

export async function mustHaveEnded({ store }: Pick<Invoked, 'store'>, orderId: string, outcome: Outcome): Promise<void> {
  const head = await store.head(orderId);
  if (head?.outcome !== outcome) throw new Error(`${orderId} is ${head?.processState}, so its figures say nothing.`);
}

/** Runs orders before the measurement: each process looks up its queues once, and the first order of a day notes the day. */
export async function warmUp(invoked: Invoked, orders = 1): Promise<void> {
  for (let index = 0; index < orders; index++) await invoked.submit(nextKey(), { workflow: 'fulfil', order });
  await invoked.settle();
}

/** Loses the first request with its process, and lets the step's time limit pass, so that the supervisor finds the step. */
export const playWithLostAgent = (invoked: Invoked) => async (): Promise<void> => {
  await invoked.lose('inventory-requests');
  invoked.pass(stepMs + clockToleranceMs + 1);
  await invoked.run('pass');
};
const { stepMs, clockToleranceMs } = readConfig({ REDRESS_ADAPTERS: 'aws' });

/** Bytes of overhead per item, and per index entry. */
const itemOverheadBytes = 100;

/** Bytes of an order in the table and its indexes, as DynamoDB counts them. */
export async function storedBytes({ clients, config }: Invoked, orderId: string): Promise<number> {
  const client = DynamoDBDocumentClient.from(clients.dynamodb);
  const { Items: items = [] } = await client.send(
    new QueryCommand({
      TableName: config.table,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': partitionOf(orderId) },
    }),
  );
  const bytes = items.flatMap((item) => {
    const places = Object.values(indexes).filter(({ partition, sort }) => partition in item && sort in item);
    const entries = places.map(({ partition, sort }) => ({
      pk: item['pk'],
      sk: item['sk'],
      [partition]: item[partition],
      [sort]: item[sort],
    }));
    return [item, ...entries].map((each) => itemBytes(each) + itemOverheadBytes);
  });
  return bytes.reduce((total, each) => total + each, 0);
}
