import { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { breakerPartitionOf, intentPartitionOf } from '#adapters/aws/dynamodb/keys';
import { eventSource } from '#adapters/aws/eventbridge';
import { keyContext } from '#adapters/aws/kms-keys';
import { collections } from '#ports/documents';
import type { DetailType } from '#ports/records';
import type { FunctionSpec } from '#runtime/topology';
import type { TableRights } from './document-rights.ts';
import type { SystemFunctionProps } from './lambda-function.ts';
import { announcesClosing, type Permissions } from './permissions.ts';

/** KMS actions: SQS, EventBridge, SNS and Secrets Manager use a data key in the function's name; DynamoDB needs more actions. */
const keyOfQueues = ['kms:Decrypt', 'kms:GenerateDataKey'];
const keyOfTable = [...keyOfQueues, 'kms:DescribeKey', 'kms:Encrypt', 'kms:ReEncryptFrom', 'kms:ReEncryptTo'];

/** KMS actions on the day keys, whose encryption context the statement names. */
const keyActions = { make: keyOfQueues, read: ['kms:Decrypt'], none: [] } as const;

/** The only announcement that agents and the supervisor may publish. */
const closingType: DetailType = 'Channel Closed';

type Granted = Omit<
  SystemFunctionProps,
  'code' | 'environment' | 'settings' | 'logRetention' | 'maxConcurrency' | 'network' | 'credentials' | 'hasAlias'
>;

/** Returns the statements of a function's role: what `permissions.ts` lists, and what Lambda does in its name. */
export function statementsOf(props: Granted, logGroupArn: string): readonly PolicyStatement[] {
  const { spec, permissions, queues, tableArn, busArn, topicArn, responseQueueArns, cursorSecret, key, tracing, auditLog } = props;
  const allow = (actions: readonly string[], resources: readonly string[], conditions = {}): PolicyStatement[] =>
    actions.length === 0
      ? []
      : chunks(resources).map((some) => new PolicyStatement({ actions: [...actions], resources: [...some], conditions }));
  const allowTable = ({ actions, partitions, attributes }: TableRights): PolicyStatement[] =>
    chunks(partitions ?? ['']).flatMap((some) =>
      allow(
        actions.map((action) => `dynamodb:${action}`),
        [tableArn],
        conditionsOf({ ...(partitions ? { partitions: some } : {}), ...(attributes ? { attributes } : {}) }),
      ),
    );
  const arns = (names: readonly string[]): readonly string[] => names.map((name) => queues.queue(name).queueArn);
  const { region } = Stack.of(queues);
  const { announces } = permissions;
  const services = [...usedServices(permissions, spec)].map((service) => `${service}.${region}.amazonaws.com`);
  return [
    ...tableRightsOf(permissions).flatMap(allowTable),
    ...allow(
      ['dynamodb:Query'],
      permissions.indexes.map((index) => `${tableArn}/index/${index}`),
    ),
    ...allow(['sqs:GetQueueUrl', 'sqs:SendMessage'], arns(permissions.sendsTo)),
    ...allow(['sqs:ChangeMessageVisibility'], arns(permissions.holds)),
    ...allow(['sqs:GetQueueUrl', 'sqs:GetQueueAttributes'], arns(permissions.looksInto)),
    ...allow(['sqs:GetQueueUrl', 'sqs:SendMessage'], permissions.answersClients ? [responseQueueArns] : []),
    ...allow(['events:PutEvents'], announces ? [busArn] : []),
    ...allow(['sns:Publish'], permissions.notifies ? [topicArn] : []),
    ...allow(['events:PutEvents'], !announces && announcesClosing(permissions) ? [busArn] : [], {
      'ForAllValues:StringEquals': { 'events:source': eventSource, 'events:detail-type': closingType },
    }),
    ...allow(['secretsmanager:GetSecretValue'], permissions.readsCursorSecret ? [cursorSecret.secretArn] : []),
    ...allow(['logs:CreateLogStream', 'logs:PutLogEvents'], permissions.writesAuditLog ? [auditLog.logGroupArn] : []),
    ...allow(keyActions[permissions.dayKeys], [key.keyArn], {
      StringEquals: { [`kms:EncryptionContext:${keyContext.name}`]: keyContext.value },
    }),
    // Permissions for what Lambda does in the function's name.
    ...allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], arns(spec.sources.map(({ queue }) => queue))),
    ...allow(usesTable(permissions) ? keyOfTable : keyOfQueues, [key.keyArn], { StringEquals: { 'kms:ViaService': services } }),
    ...allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroupArn]),
    ...allow(['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], tracing ? ['*'] : []),
  ];
}

/** Returns all rights to the table. Rights with the same actions and attributes become one, to keep the policy small. */
function tableRightsOf({ table, recordsIntents, breakers, documents, dayKeys }: Permissions): readonly TableRights[] {
  const all: readonly TableRights[] = [
    ...table,
    ...(recordsIntents ? [{ actions: ['PutItem', 'DeleteItem'], partitions: [intentPartitionOf('*')] }] : []),
    ...(breakers.length > 0 ? [{ actions: ['GetItem', 'PutItem'], partitions: breakers.map(breakerPartitionOf) }] : []),
    ...(dayKeys === 'none'
      ? []
      : [{ actions: dayKeys === 'make' ? ['GetItem', 'PutItem'] : ['GetItem'], partitions: [collections.key('*')] }]),
    ...documents,
  ];
  const alike = Map.groupBy(all, ({ actions, attributes, partitions }) => JSON.stringify([actions, attributes, partitions === undefined]));
  return [...alike.values()].map(([first, ...others]) => ({
    ...(first as TableRights),
    ...(first?.partitions ? { partitions: [...first.partitions, ...others.flatMap(({ partitions }) => partitions ?? [])] } : {}),
  }));
}

/** Returns the conditions of a statement about the table. Without `Null`, IAM would take an absent key for a match. */
const conditionsOf = ({ partitions, attributes }: Omit<TableRights, 'actions'>) => ({
  ...(partitions ? { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions }, Null: { 'dynamodb:LeadingKeys': 'false' } } : {}),
  ...(attributes
    ? {
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': attributes },
        // A read must name its attributes, and a write must not return the others.
        StringEqualsIfExists: {
          'dynamodb:Select': 'SPECIFIC_ATTRIBUTES',
          'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'],
        },
      }
    : {}),
});

/** The most resources or partitions of one statement. CDK splits a policy above IAM's limit between statements, not inside one. */
const perStatement = 30;

const chunks = <T>(values: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(values.length / perStatement) }, (_, index) =>
    values.slice(index * perStatement, (index + 1) * perStatement),
  );

const usesTable = ({ table, recordsIntents, breakers, documents, dayKeys }: Permissions): boolean =>
  table.length + breakers.length + documents.length > 0 || recordsIntents || dayKeys !== 'none';

/** Returns the services that use the key in this function's name. */
const usedServices = (permissions: Permissions, { sources }: FunctionSpec): ReadonlySet<string> =>
  new Set([
    ...(usesTable(permissions) ? ['dynamodb'] : []),
    ...(permissions.sendsTo.length + sources.length > 0 ? ['sqs'] : []),
    ...(permissions.announces || announcesClosing(permissions) ? ['events'] : []),
    ...(permissions.notifies ? ['sns'] : []),
    ...(permissions.readsCursorSecret ? ['secretsmanager'] : []),
  ]);
