import assert from 'node:assert/strict';
import { describe, test } from '@jest/globals';
import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { expiryAttribute, tableShape } from '#adapters/aws/dynamodb/table';
import { OrderProcessing } from '#infrastructure/order-processing';
import { SetupError } from '#ports/errors';
import app from './app.ts';
import { defaults, entry, ofType, region, type Synthesized, synthesize, theOne } from './support.ts';

interface Replica {
  readonly Region: string;
  readonly DeletionProtectionEnabled: boolean;
  readonly PointInTimeRecoverySpecification: unknown;
  readonly SSESpecification: { readonly KMSMasterKeyId: unknown };
}

const tableOf = (synthesized: Synthesized) => theOne(synthesized, 'DynamoDB::GlobalTable');
const replicasOf = (synthesized: Synthesized) => tableOf(synthesized).Properties['Replicas'] as readonly Replica[];
const keyOf = (synthesized: Synthesized) => ({ 'Fn::GetAtt': [ofType(synthesized, 'KMS::Key')[0]?.[0], 'Arn'] });
const elsewhere = { region: 'eu-west-1', keyArn: 'arn:aws:kms:eu-west-1:123456789012:key/1' };

describe('the state store is durable', () => {
  test('F-09: the table has point-in-time recovery for 35 days and a customer-managed key, and survives the stack', () => {
    const [replica, ...others] = replicasOf(defaults());
    assert.deepEqual(others, []);
    assert.partialDeepStrictEqual(replica, {
      Region: region,
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { KMSMasterKeyId: keyOf(defaults()) },
    });
    const { Properties, DeletionPolicy } = tableOf(defaults());
    assert.deepEqual(Properties['SSESpecification'], { SSEEnabled: true, SSEType: 'KMS' });
    assert.equal(DeletionPolicy, 'RetainExceptOnCreate');
  });

  test('F-09: the key rotates every year, and survives the stack with the table', () => {
    const { Properties, DeletionPolicy } = theOne(defaults(), 'KMS::Key');
    assert.deepEqual([Properties['EnableKeyRotation'], DeletionPolicy], [true, 'RetainExceptOnCreate']);
  });

  test('F-09: replicas make the table a global one; each replica has a key of its region and the same protection', () => {
    const replicated = synthesize({ props: { replicas: [elsewhere] } });
    const replicas = replicasOf(replicated).toSorted((a, b) => (a.Region < b.Region ? -1 : 1));
    assert.deepEqual(
      replicas.map((replica) => [replica.Region, replica.SSESpecification.KMSMasterKeyId, replica.DeletionProtectionEnabled]),
      [
        [region, keyOf(replicated), true],
        ['eu-west-1', elsewhere.keyArn, true],
      ],
    );
    for (const { PointInTimeRecoverySpecification } of replicas)
      assert.deepEqual(PointInTimeRecoverySpecification, { PointInTimeRecoveryEnabled: true });
  });

  test('a trial stack with RemovalPolicy.DESTROY keeps neither table nor key nor user pool', () => {
    const trial = synthesize({ props: { removalPolicy: RemovalPolicy.DESTROY } });
    assert.equal(replicasOf(trial)[0]?.DeletionProtectionEnabled, false);
    assert.notEqual(theOne(trial, 'Cognito::UserPool').Properties['DeletionProtection'], 'ACTIVE');
    assert.ok(!trial.orders.node.scope || !(trial.orders.node.scope as Stack).terminationProtection);
    const kept = Object.values(trial.resources).filter(({ DeletionPolicy }) => DeletionPolicy?.startsWith('Retain'));
    assert.deepEqual(
      kept.map(({ Type }) => Type),
      [],
    );
    const byDefault = Object.values(defaults().resources).filter(({ DeletionPolicy }) => DeletionPolicy?.startsWith('Retain'));
    assert.deepEqual(byDefault.map(({ Type }) => Type).toSorted(), [
      'AWS::Cognito::UserPool',
      'AWS::DynamoDB::GlobalTable',
      'AWS::KMS::Key',
      'AWS::Logs::LogGroup',
    ]);
  });
});

test('the deployed table has the keys, indexes and TTL attribute of the table in the store tests', () => {
  const { Properties } = tableOf(defaults());
  const byName = (attributes: readonly { AttributeName?: string | undefined }[]) =>
    attributes.toSorted((a, b) => (String(a.AttributeName) < String(b.AttributeName) ? -1 : 1));
  assert.deepEqual(byName(Properties['AttributeDefinitions'] as []), byName(tableShape.AttributeDefinitions));
  for (const name of ['KeySchema', 'GlobalSecondaryIndexes', 'BillingMode'] as const) assert.deepEqual(Properties[name], tableShape[name]);
  assert.deepEqual(Properties['TimeToLiveSpecification'], { AttributeName: expiryAttribute, Enabled: true });
});

test('a new table can have a warm throughput', () => {
  const ready = synthesize({ props: { warmThroughput: { readUnitsPerSecond: 20_000, writeUnitsPerSecond: 8000 } } });
  assert.deepEqual(tableOf(ready).Properties['WarmThroughput'], { ReadUnitsPerSecond: 20_000, WriteUnitsPerSecond: 8000 });
  assert.equal(tableOf(defaults()).Properties['WarmThroughput'], undefined);
});

test('a stack without a region is refused with a remedy', () => {
  assert.throws(
    () => new OrderProcessing(new Stack(new App()), 'Orders', { app, entry }),
    (error: unknown) => error instanceof SetupError && /no region/.test(error.message) && /env: \{ region/.test(error.remedy),
  );
});
