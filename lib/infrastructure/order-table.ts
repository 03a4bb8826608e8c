import { type RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import { AttributeType, Billing, ProjectionType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { expiryAttribute, indexes, tableShape } from '#adapters/aws/dynamodb/table';
import { SetupError } from '#ports/errors';

export interface OrderTableProps {
  readonly key: IKey;
  readonly removalPolicy: RemovalPolicy;
  readonly deletionProtection: boolean;
  /** Units a second that a new table serves from its first minute; without them, its capacity grows with the load. */
  readonly warmThroughput?: { readonly readUnitsPerSecond: number; readonly writeUnitsPerSecond: number };
  /** Further regions, each with the ARN of a key there (F-09). The system runs in one region at a time. */
  readonly replicas?: readonly { readonly region: string; readonly keyArn: string }[];
}

/**
 * Creates the table of the state store: all orders with their states and journals.
 *
 * @throws SetupError in a stack without a region, which CDK needs to assign the keys of replicas.
 */
export function orderTable(scope: Construct, props: OrderTableProps): TableV2 {
  const { key, removalPolicy, deletionProtection, warmThroughput, replicas = [] } = props;
  if (Token.isUnresolved(Stack.of(scope).region))
    throw new SetupError('The stack has no region.', "Set one: env: { region: 'eu-central-1' }.");
  const [partition, sort] = tableShape.KeySchema;
  const keyArns = Object.fromEntries(replicas.map(({ region, keyArn }) => [region, keyArn]));
  return new TableV2(scope, 'Table', {
    partitionKey: { name: String(partition?.AttributeName), type: AttributeType.STRING },
    sortKey: { name: String(sort?.AttributeName), type: AttributeType.STRING },
    globalSecondaryIndexes: Object.values(indexes).map(({ name, partition, sort, sortType }) => ({
      indexName: name,
      partitionKey: { name: partition, type: AttributeType.STRING },
      sortKey: { name: sort, type: sortType === 'N' ? AttributeType.NUMBER : AttributeType.STRING },
      projectionType: ProjectionType.KEYS_ONLY,
    })),
    billing: Billing.onDemand(),
    encryption: TableEncryptionV2.customerManagedKey(key, keyArns),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    timeToLiveAttribute: expiryAttribute,
    deletionProtection,
    removalPolicy,
    ...(warmThroughput ? { warmThroughput } : {}),
    ...(replicas.length > 0 ? { replicas: replicas.map(({ region }) => ({ region })) } : {}),
  });
}
