import type { AttributeDefinition, GlobalSecondaryIndex, KeySchemaElement } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** A table and its client. */
export interface Table {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
}

/** An index and the attributes of its two keys. Indexes are sparse and hold keys only: they propose orders, and the items decide. */
export interface IndexShape {
  readonly name: string;
  readonly partition: string;
  readonly sort: string;
  readonly sortType: 'S' | 'N';
}

export const indexes = {
  /** Orders with a deadline and blocked ones, by shard and time. States have these attributes. */
  worklist: { name: 'worklist', partition: 'worklist', sort: 'worklistAt', sortType: 'N' },
  /**
   * Orders in Error, pending orders and those at work without a deadline, by state and shard. States have these attributes. The worklist
   * cannot list them: it sorts by the next reminder, and keeps an order under `due` until its alert is sent.
   */
  inError: { name: 'in-error', partition: 'errorShard', sort: 'listedAt', sortType: 'S' },
  /** Orders by client, by day and by reference. Submissions have these attributes. They never change, so each entry is written once. */
  byClient: { name: 'by-client', partition: 'clientDay', sort: 'listedAt', sortType: 'S' },
  byDay: { name: 'by-day', partition: 'dayShard', sort: 'listedAt', sortType: 'S' },
  byReference: { name: 'by-reference', partition: 'clientReference', sort: 'listedAt', sortType: 'S' },
  /** Lists of documents (`#ports/lists`). Documents alone have these keys: on orders and states they would cost write units. */
  listA: { name: 'listA', partition: 'la', sort: 'las', sortType: 'S' },
  listB: { name: 'listB', partition: 'lb', sort: 'lbs', sortType: 'S' },
  listC: { name: 'listC', partition: 'lc', sort: 'lcs', sortType: 'S' },
} as const satisfies { readonly [name: string]: IndexShape };

/**
 * The expiry, in seconds since 1970. Records of orders have it only when the order is finished, and only with a configured retention. Some
 * documents, tallies and counts have it, too.
 */
export const expiryAttribute = 'expiresAt';

const shapes: readonly IndexShape[] = Object.values(indexes);
const keySchema = (partition: string, sort: string): KeySchemaElement[] => [
  { AttributeName: partition, KeyType: 'HASH' },
  { AttributeName: sort, KeyType: 'RANGE' },
];

/** The table as `CreateTable` takes it, for emulators and deployments alike. */
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
