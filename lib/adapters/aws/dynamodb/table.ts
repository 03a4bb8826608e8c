import type { AttributeDefinition, GlobalSecondaryIndex, KeySchemaElement } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** A table and the way to it. */
export interface Table {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
}

/** An index and the two attributes that it sorts by. All are sparse and keep keys only: they propose, the items decide. */
export interface IndexShape {
  readonly name: string;
  readonly partition: string;
  readonly sort: string;
  readonly sortType: 'S' | 'N';
}

export const indexes = {
  /** Live orders and held ones, by shard and time; on the state. */
  worklist: { name: 'worklist', partition: 'worklist', sort: 'worklistAt', sortType: 'N' },
  /**
   * Orders in Error, by shard; on the state. The worklist is no list of them: it goes by the next reminder, and keeps an
   * order that is to be told of first under `due`.
   */
  inError: { name: 'in-error', partition: 'errorShard', sort: 'listedAt', sortType: 'S' },
  /** On the order, which never changes: each is written once. */
  byClient: { name: 'by-client', partition: 'clientDay', sort: 'listedAt', sortType: 'S' },
  byDay: { name: 'by-day', partition: 'dayShard', sort: 'listedAt', sortType: 'S' },
  byReference: { name: 'by-reference', partition: 'clientReference', sort: 'listedAt', sortType: 'S' },
} as const satisfies { readonly [name: string]: IndexShape };

/** Seconds since 1970; only finished orders have it, and only where a retention is configured. */
export const expiryAttribute = 'expiresAt';

const shapes: readonly IndexShape[] = Object.values(indexes);
const keySchema = (partition: string, sort: string): KeySchemaElement[] => [
  { AttributeName: partition, KeyType: 'HASH' },
  { AttributeName: sort, KeyType: 'RANGE' },
];

/** The table as `CreateTable` takes it: the same for emulators as for what is deployed. */
export const tableShape = {
  KeySchema: keySchema('pk', 'sk'),
  AttributeDefinitions: [
    ...['pk', 'sk', ...shapes.map(({ partition }) => partition)].map(
      (name): AttributeDefinition => ({ AttributeName: name, AttributeType: 'S' }),
    ),
    ...[...new Map(shapes.map(({ sort, sortType }) => [sort, sortType]))].map(
      ([name, type]): AttributeDefinition => ({ AttributeName: name, AttributeType: type }),
    ),
  ],
  GlobalSecondaryIndexes: shapes.map(
    ({ name, partition, sort }): GlobalSecondaryIndex => ({
      IndexName: name,
      KeySchema: keySchema(partition, sort),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    }),
  ),
  BillingMode: 'PAY_PER_REQUEST' as const,
};
