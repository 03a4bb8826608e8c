import { CreateTableCommand, type DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { DeleteCommand, DynamoDBDocumentClient, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { intentPartitionOf, keys, orderIdIn, partitionOf } from '#adapters/aws/dynamodb/keys';
import { dynamoDbStore } from '#adapters/aws/dynamodb/store';
import { expiryAttribute, tableShape } from '#adapters/aws/dynamodb/table';
import { eventBridgePublisher } from '#adapters/aws/eventbridge';
import { type AwsClients, openClients } from '#adapters/aws/open';
import { sqsQueues } from '#adapters/aws/sqs/queues';
import { openEmbedded } from '#adapters/sqlite/open';
import { type Clock, type ManualClock, manualClock, systemClock } from '#ports/clock';
import type { Announcement } from '#ports/event-bus';
import type { Queues, Redrive } from '#ports/queues';
import type { DetailType } from '#ports/records';
import type { Store } from '#ports/store';
import type { OpenPublisher } from '../../contracts/event-bus.contract.ts';
import { fewLooked } from '../../contracts/list.contract.ts';
import type { OpenChannel, OpenChannels } from '../../contracts/queues.contract.ts';
import type { OpenStore } from '../../contracts/store.contract.ts';
import type { Emulator, EventBus, Fauxqs } from '../../support/emulators.ts';
import { noon } from '../../support/records.ts';

const region = 'eu-central-1';
const nowhere = 'http://127.0.0.1:9';
let names = 0;
/** A unique name, on a shared emulator. */
export const newName = (): string => `redress-${process.pid}-${++names}`;

export const clientsAt = (endpoints: Partial<Record<'dynamodb' | 'sqs' | 'eventbridge', string>>): AwsClients =>
  openClients({ region, endpoints: { dynamodb: nowhere, sqs: nowhere, eventbridge: nowhere, ...endpoints } });

export async function createTable(client: DynamoDBClient, name = newName()): Promise<string> {
  await client.send(new CreateTableCommand({ TableName: name, ...tableShape }));
  const TimeToLiveSpecification = { AttributeName: expiryAttribute, Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
  return name;
}

export const retentionMs = 86_400_000;

/** A time that a test sets; sleeps take real time. */
const settableClock = (start: number): Clock & { set(now: number): void } => {
  let now = start;
  return { now: () => now, sleep: systemClock.sleep, set: (to) => void (now = to) };
};

/** A store with its own table, as the contract requires it. */
export async function openDynamoDbStore({ endpoint }: Emulator): Promise<OpenStore> {
  const { dynamodb } = clientsAt({ dynamodb: endpoint });
  const client = DynamoDBDocumentClient.from(dynamodb);
  const table = await createTable(dynamodb);
  const clock = settableClock(noon);
  const store = dynamoDbStore({ client, table, clock, retentionMs });
  const another = clientsAt({ dynamodb: endpoint }).dynamodb;
  const other = dynamoDbStore({ client: DynamoDBDocumentClient.from(another), table, clock, retentionMs });
  const { queues, database } = openEmbedded(':memory:', { clock: manualClock() });

  /** Removes expired items as DynamoDB's time-to-live does, for orders that finished before the given time. */
  const forget: Store['forget'] = async (finishedBefore, limit) => {
    clock.set(finishedBefore + retentionMs);
    const { Items = [] } = await client.send(new ScanCommand({ TableName: table, ConsistentRead: true }));
    const over = Items.filter(({ expiresAt }) => expiresAt < clock.now() / 1000);
    const ids = over.filter(({ sk }) => sk === keys.state('').sk).map(({ pk }) => orderIdIn(pk));
    const later = new Set(ids.slice(limit).flatMap((id) => [partitionOf(id), intentPartitionOf(id)]));
    for (const { pk, sk } of over) if (!later.has(pk)) await client.send(new DeleteCommand({ TableName: table, Key: { pk, sk } }));
    return Math.min(limit, ids.length);
  };

  return {
    store: { ...store, forget },
    other: { ...other, forget },
    few: dynamoDbStore({ client, table, clock, retentionMs, lookedMax: fewLooked }),
    queues,
    announced: () => [],
    async damage(orderId, part, text) {
      const [Key, attribute, value] =
        part === 'order' ? [keys.order(orderId), 'body', text] : [keys.state(orderId), 'schemaVersion', versionIn(text)];
      const ExpressionAttributeNames = { '#attribute': attribute };
      await client.send(
        new UpdateCommand({
          TableName: table,
          Key,
          UpdateExpression: 'SET #attribute = :value',
          ExpressionAttributeNames,
          ExpressionAttributeValues: { ':value': value },
        }),
      );
    },
    async loseState(orderId) {
      await client.send(new DeleteCommand({ TableName: table, Key: keys.state(orderId) }));
    },
    async close() {
      dynamodb.destroy();
      another.destroy();
      await database.close();
    },
  };
}

/**
 * A state's attributes are separate, not one text: a text that is not a record damages the attribute that describes the
 * state.
 */
const versionIn = (text: string): unknown => {
  try {
    return (JSON.parse(text) as { schemaVersion?: number } | null)?.schemaVersion ?? text;
  } catch {
    return text;
  }
};

const queueNames = ['q', 'q-dead', 'a', 'b', 'c', 'other', 'none'];

/** Queues of their own deployment, in the emulator's stopped time. */
export const openSqsChannels =
  (fauxqs: Fauxqs): OpenChannels =>
  async (redriveOf) => {
    const { sqs } = clientsAt({ sqs: fauxqs.endpoint });
    const prefix = `${newName()}-`;
    for (const queue of queueNames.toReversed()) await createQueue(sqs, prefix, queue, redriveOf(queue));
    const pending = { count: 0 };
    const clock = clockOf(fauxqs, pending);
    const [queues, other] = [
      sqsQueues({ client: sqs, prefix, clock: systemClock }),
      sqsQueues({ client: sqs, prefix, clock: systemClock }),
    ].map((each) => watched(each, pending));
    return { queues, other, clock, reportsAge: false, close: async () => sqs.destroy() } as OpenChannel;
  };

export async function createQueue(client: SQSClient, prefix: string, queue: string, redrive: Redrive | undefined): Promise<void> {
  const deadLetterTargetArn = redrive && `arn:aws:sqs:${region}:000000000000:${prefix}${redrive.deadLetterQueue}`;
  const policy = redrive && { RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: redrive.maxReceiveCount }) };
  await client.send(new CreateQueueCommand({ QueueName: prefix + queue, Attributes: { ...policy } }));
}

/** Counts the calls of a channel that are under way and may not have reached the server yet. */
const watched = (queues: Queues, pending: { count: number }): Queues => {
  const counted = async <T>(call: Promise<T>): Promise<T> => {
    pending.count += 1;
    try {
      return await call;
    } finally {
      pending.count -= 1;
    }
  };
  return {
    send: (messages) => counted(queues.send(messages)),
    receive: (queue, options) => counted(queues.receive(queue, options)),
    acknowledge: (queue, receipts) => counted(queues.acknowledge(queue, receipts)),
    release: (queue, receipts, afterMs) => counted(queues.release(queue, receipts, afterMs)),
    depth: (queue) => counted(queues.depth(queue)),
  };
};

/** Advances the emulator's time after every call under way has reached it, so that earlier calls come first. */
function clockOf(fauxqs: Fauxqs, pending: { count: number }): Pick<ManualClock, 'now' | 'sleep' | 'advance'> {
  const arrived = async (): Promise<void> => {
    for (let looks = 0; looks < 1000 && (await fauxqs.waiting()) !== pending.count; looks++)
      await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return {
    now: () => fauxqs.now(),
    sleep: async () => {},
    async advance(ms) {
      await arrived();
      await fauxqs.advance(ms);
    },
  };
}

/**
 * The bus as a listener sees it: it detects duplicates by the id in the detail, and receives each announcement once.
 */
export function openEventBridge(bus: EventBus): OpenPublisher {
  const name = newName();
  const [here, there] = [clientsAt({ eventbridge: bus.endpoint }).eventbridge, clientsAt({ eventbridge: bus.endpoint }).eventbridge];
  return {
    publisher: eventBridgePublisher({ client: here, bus: name }),
    other: eventBridgePublisher({ client: there, bus: name }),
    async arrived() {
      const heard = bus.arrived
        .filter(({ EventBusName }) => EventBusName === name)
        .map(({ DetailType, Detail = '{}' }): Announcement => {
          const detail = JSON.parse(Detail) as { id: string };
          return { id: detail.id, detailType: DetailType as DetailType, detail };
        });
      return heard.filter(({ id }, index) => heard.findIndex((each) => each.id === id) === index);
    },
    async close() {
      here.destroy();
      there.destroy();
    },
  };
}

/** The bytes that DynamoDB counts for an item of texts, numbers and flags: its names and its values. */
export const itemBytes = (item: { readonly [attribute: string]: unknown }): number =>
  Object.entries(item).reduce((bytes, [name, value]) => bytes + Buffer.byteLength(name) + valueBytes(value), 0);

const valueBytes = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return typeof value === 'number' ? Math.ceil(String(value).replace(/\D/g, '').length / 2) + 1 : 1;
};

type Proceed = () => Promise<unknown>;

/**
 * Intercepts one operation between a client and the server: at the program's `call`, or at each `request` of the SDK,
 * which retries failures.
 */
export function interfere(
  client: { readonly middlewareStack: object },
  operation: string,
  meddle: (proceed: Proceed) => Promise<unknown>,
  at: 'call' | 'request' = 'call',
): void {
  const stack = client.middlewareStack as { add(middleware: unknown, options: object): void };
  const middleware =
    (next: (args: unknown) => Promise<unknown>, { commandName = '' }: { commandName?: string }) =>
    (args: unknown) =>
      commandName === `${operation}Command` ? meddle(() => next(args)) : next(args);
  stack.add(middleware, at === 'call' ? { step: 'initialize', priority: 'low' } : { step: 'deserialize', priority: 'high' });
}
