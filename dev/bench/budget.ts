import { type MeterEntry, totalOf } from '#adapters/aws/meter';

/** The maximum cost of a three-step order without failures and without a response queue (the design's budget). */
export const budget = {
  transactions: 1,
  /** Updates of whole items and of single attributes. */
  updates: 3,
  reads: 3,
  indexWrites: 5,
  /** One message each way for each of three steps. */
  messages: 6,
  stateBytes: 2047,
} as const;

export type Figure = keyof typeof budget;

/** The maximum number of write units for one step. It holds for an order with any number of steps. */
export const writeUnitsPerStepMax = 4;
/** Maximum dollars for a million orders at list prices. `batched`: ten messages per SQS request and Lambda run; `oneByOne`: one. */
export const dollarsMax = { batched: 15, oneByOne: 25 } as const;

export interface OrderFigures extends Readonly<Record<Figure, number>> {
  readonly tableRequests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly indexWriteUnits: number;
  readonly queueRequests: number;
  readonly announcements: number;
}

const transactions = ['TransactWriteItems'];
const updates = ['PutItem', 'UpdateItem'];
const reads = ['BatchGetItem', 'GetItem', 'Query', 'Scan'];

/** The requests of one order that runs alone. Each index write is one unit, because all indexes hold keys only. */
export function figuresOf(entries: readonly MeterEntry[], stateBytes: number): OrderFigures {
  const requestsTo = (operations: readonly string[]): number =>
    totalOf(entries.filter(({ operation }) => operations.includes(operation))).requests;
  const { readUnits, writeUnits, indexWriteUnits } = totalOf(entries);
  return {
    transactions: requestsTo(transactions),
    updates: requestsTo(updates),
    reads: requestsTo(reads),
    indexWrites: indexWriteUnits,
    messages: requestsTo(['SendMessageBatch']),
    stateBytes,
    tableRequests: totalOf(entries.filter(({ service }) => service === 'DynamoDB')).requests,
    readUnits,
    writeUnits,
    indexWriteUnits,
    queueRequests: totalOf(entries.filter(({ service }) => service === 'SQS')).requests,
    announcements: requestsTo(['PutEvents']),
  };
}

/** Counts requests by role and operation: `scheduler PutItem: 3`. */
export const requestsIn = (entries: readonly MeterEntry[]): { readonly [call: string]: number } =>
  Object.fromEntries(
    [...Map.groupBy(entries, ({ role, operation }) => `${role} ${operation}`)].map(([call, its]) => [call, totalOf(its).requests]),
  );
