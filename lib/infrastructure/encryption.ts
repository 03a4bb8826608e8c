import { ArnFormat, Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

/** Creates one customer managed key for all stored and transmitted data: table, queues, bus, topic, logs, secret. */
export function encryptionKey(scope: Construct, { name, removalPolicy }: { name: string; removalPolicy: RemovalPolicy }): Key {
  const key = new Key(scope, 'Key', {
    alias: `alias/${name}`,
    description: `Encrypts all data of ${name}`,
    enableKeyRotation: true,
    pendingWindow: Duration.days(30),
    removalPolicy,
  });
  const { account, region } = Stack.of(scope);
  const use = (service: string, conditions = {}): void =>
    void key.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal(`${service}.amazonaws.com`)],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
        resources: ['*'],
        conditions,
      }),
    );
  // Alarms publish to an encrypted topic.
  use('cloudwatch', { StringEquals: { 'aws:SourceAccount': account } });
  // Rules of EventBridge publish to the encrypted topic and queue. Their requests carry no source account, so a condition would block them.
  use('events');
  const logGroups = Stack.of(scope).formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${region}.amazonaws.com`)],
      actions: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
      resources: ['*'],
      conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups } },
    }),
  );
  return key;
}
