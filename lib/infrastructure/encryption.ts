import { ArnFormat, Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

/** One key of the customer's own for everything that is stored or under way: table, queues, bus, topic, logs, secret. */
export function encryptionKey(scope: Construct, { name, removalPolicy }: { name: string; removalPolicy: RemovalPolicy }): Key {
  const key = new Key(scope, 'Key', {
    alias: `alias/${name}`,
    description: `Everything that ${name} stores or sends`,
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
  // Alarms send to an encrypted topic.
  use('cloudwatch', { StringEquals: { 'aws:SourceAccount': account } });
  // Rules send there, too, and to an encrypted queue. They do not say in whose name: with a condition, nothing would arrive.
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
