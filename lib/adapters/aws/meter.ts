import { AsyncLocalStorage } from 'node:async_hooks';
import { isObject } from '#core/data/json';
import type { Outgoing, Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import { jsonIn } from '#ports/util/json';
import { type IamQuestion, questionsOf } from './iam.ts';

/** The role and order that a request is made for. */
export interface MeterTag {
  /** The function: `scheduler`, `agent`. */
  readonly role?: string;
  readonly orderId?: string;
}

export interface Consumption {
  /** HTTP requests, including the SDK's retries. */
  readonly requests: number;
  readonly readUnits: number;
  /** Write units of the table and of its indexes. */
  readonly writeUnits: number;
  /** The part of `writeUnits` that the indexes used. */
  readonly indexWriteUnits: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/** One call of one service. */
export interface MeterEntry extends MeterTag, Consumption {
  /** The service: `DynamoDB`, `SQS`, `EventBridge`, `Lambda`. */
  readonly service: string;
  /** The operation as the SDK names it: `TransactWriteItems`. */
  readonly operation: string;
  /** Whether the call was refused or failed. DynamoDB bills refused writes too, but does not report their units. */
  readonly failed: boolean;
  /** The permissions that the call needed. */
  readonly questions: readonly IamQuestion[];
}

/** Counts the requests of a system to AWS, for tests, figures and the permissions of a role. */
export interface Meter {
  /** Counts all later calls of a client. */
  attach(client: MeteredClient): void;
  /** Runs work and counts its calls for a role or order. Nested calls of `within` combine their tags. */
  within<T>(tag: MeterTag, work: () => T): T;
  entries(): readonly MeterEntry[];
  reset(): void;
}

interface MeteredClient {
  readonly middlewareStack: object;
  readonly config: { readonly serviceId: string };
}

interface Call {
  requests: number;
  sentBytes: number;
  receivedBytes: number;
}

/** The part of the SDK's middleware types that is needed here. The SDK's own types differ between clients. */
type Handler = (args: {
  input: { [name: string]: unknown };
  request?: { body?: unknown };
}) => Promise<{ output: Output; response?: { headers?: { [name: string]: string } } }>;
type Middleware = (next: Handler, context: { readonly commandName?: string }) => Handler;
interface Stack {
  add(
    middleware: Middleware,
    options: { readonly step: 'initialize' | 'finalizeRequest'; readonly priority: 'high' | 'low'; readonly name: string },
  ): void;
}

interface Capacity {
  readonly CapacityUnits?: number;
  readonly ReadCapacityUnits?: number;
  readonly WriteCapacityUnits?: number;
  readonly GlobalSecondaryIndexes?: { readonly [name: string]: Capacity };
}
interface Output {
  readonly ConsumedCapacity?: Capacity | readonly Capacity[];
}

export function createMeter(): Meter {
  const tags = new AsyncLocalStorage<MeterTag>();
  let entries: MeterEntry[] = [];

  return {
    attach({ middlewareStack, config: { serviceId } }) {
      const stack = middlewareStack as Stack;
      const calls = new WeakMap<object, Call>();

      const count: Middleware = (next, context) => async (args) => {
        const call: Call = { requests: 0, sentBytes: 0, receivedBytes: 0 };
        calls.set(context, call);
        const operation = (context.commandName ?? '').replace(/Command$/, '');
        const input = serviceId === 'DynamoDB' ? { ...args.input, ReturnConsumedCapacity: 'INDEXES' } : args.input;
        const questions = questionsOf(serviceId, operation, args.input);
        const note = (failed: boolean, output: Output): void => {
          entries.push({ ...tags.getStore(), service: serviceId, operation, failed, questions, ...call, ...unitsOf(operation, output) });
        };
        try {
          const result = await next({ ...args, input });
          note(false, result.output);
          return result;
        } catch (error) {
          note(true, {});
          throw error;
        }
      };

      /** Runs inside the SDK's retry loop. */
      const measure: Middleware = (next, context) => async (args) => {
        const call = calls.get(context);
        if (call) {
          call.requests += 1;
          call.sentBytes += bytesOf(args.request?.body);
        }
        const result = await next(args);
        if (call) call.receivedBytes += Number(result.response?.headers?.['content-length'] ?? 0);
        return result;
      };

      stack.add(count, { step: 'initialize', priority: 'high', name: 'meterCalls' });
      stack.add(measure, { step: 'finalizeRequest', priority: 'low', name: 'meterRequests' });
    },

    within: (tag, work) => tags.run({ ...tags.getStore(), ...tag }, work),
    entries: () => entries,
    reset() {
      entries = [];
    },
  };
}

const reads = new Set(['GetItem', 'BatchGetItem', 'TransactGetItems', 'Query', 'Scan']);

function unitsOf(
  operation: string,
  { ConsumedCapacity: consumed = [] }: Output,
): Pick<Consumption, 'readUnits' | 'writeUnits' | 'indexWriteUnits'> {
  const all = Array.isArray(consumed) ? (consumed as readonly Capacity[]) : [consumed as Capacity];
  const isRead = reads.has(operation);
  const unitsIn = ({ CapacityUnits = 0, ReadCapacityUnits, WriteCapacityUnits }: Capacity): number =>
    (isRead ? ReadCapacityUnits : WriteCapacityUnits) ?? CapacityUnits;
  const units = sum(all.map(unitsIn));
  const inIndexes = sum(all.flatMap(({ GlobalSecondaryIndexes = {} }) => Object.values(GlobalSecondaryIndexes).map(unitsIn)));
  return isRead ? { readUnits: units, writeUnits: 0, indexWriteUnits: 0 } : { readUnits: 0, writeUnits: units, indexWriteUnits: inIndexes };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
const bytesOf = (body: unknown): number => (typeof body === 'string' || body instanceof Uint8Array ? Buffer.byteLength(body) : 0);

export const totalOf = (entries: readonly Consumption[]): Consumption => ({
  requests: sum(entries.map(({ requests }) => requests)),
  readUnits: sum(entries.map(({ readUnits }) => readUnits)),
  writeUnits: sum(entries.map(({ writeUnits }) => writeUnits)),
  indexWriteUnits: sum(entries.map(({ indexWriteUnits }) => indexWriteUnits)),
  sentBytes: sum(entries.map(({ sentBytes }) => sentBytes)),
  receivedBytes: sum(entries.map(({ receivedBytes }) => receivedBytes)),
});

/** Wraps a store so that its calls about one order are counted for that order. */
export const meteredStore = (store: Store, { within }: Pick<Meter, 'within'>): Store => ({
  ...store,
  create: (order, state, sentWithWrite) => within({ orderId: order.orderId }, () => store.create(order, state, sentWithWrite)),
  load: (orderId) => within({ orderId }, () => store.load(orderId)),
  head: (orderId) => within({ orderId }, () => store.head(orderId)),
  orderWithoutState: (orderId) => within({ orderId }, () => store.orderWithoutState(orderId)),
  putMissingState: (state) => within({ orderId: state.orderId }, () => store.putMissingState(state)),
  update: (state, when, sentWithWrite) => within({ orderId: state.orderId }, () => store.update(state, when, sentWithWrite)),
  eraseSecrets: (order, documents) => within({ orderId: order.orderId }, () => store.eraseSecrets(order, documents)),
  patch: (head, when) => within({ orderId: head.orderId }, () => store.patch(head, when)),
  putPage: (orderId, rev, page) => within({ orderId }, () => store.putPage(orderId, rev, page)),
  pages: (orderId) => within({ orderId }, () => store.pages(orderId)),
  recordIntent: (intent) => within({ orderId: intent.orderId }, () => store.recordIntent(intent)),
  putUndoPage: (orderId, rev, page) => within({ orderId }, () => store.putUndoPage(orderId, rev, page)),
  undoPage: (orderId, rev) => within({ orderId }, () => store.undoPage(orderId, rev)),
});

/** Wraps queues so that sends for one order are counted for that order. Receiving and acknowledging serve many orders together. */
export const meteredQueues = (queues: Queues, { within }: Pick<Meter, 'within'>): Queues => ({
  ...queues,
  send: (messages) => within(tagOf(messages), () => queues.send(messages)),
});

const tagOf = (messages: readonly Outgoing[]): MeterTag => {
  const [orderId, ...others] = new Set(messages.map(orderIdIn));
  return orderId !== undefined && others.length === 0 ? { orderId } : {};
};

function orderIdIn({ body }: Outgoing): string | undefined {
  const message = jsonIn(body);
  return isObject(message) && typeof message['orderId'] === 'string' ? message['orderId'] : undefined;
}
