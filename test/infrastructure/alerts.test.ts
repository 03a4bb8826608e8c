import assert from 'node:assert/strict';
import { describe, test } from '@jest/globals';
import { eventSource } from '#adapters/aws/eventbridge';
import { alertTypes, detailTypes } from '#ports/records';
import { defaults, ofType, synthesize, theOne } from './support.ts';

const stack = defaults();
const idOf = (type: string): string | undefined => ofType(stack, type)[0]?.[0];
/** Returns the resource of the topic of alerts. The topic of messages for people has such resources, too. */
const ofAlerts = (type: string) => {
  const [, found] =
    ofType(stack, type).find(([id]) => id.includes('AnnouncementsAlerts')) ?? assert.fail(`There is no ${type} of the alerts.`);
  return found;
};
const key = idOf('KMS::Key');
const undelivered = ofType(stack, 'SQS::Queue').find(([, { Properties }]) => Properties['QueueName'] === undefined)?.[0];

const [toOperators, ...otherRules] = ofType(stack, 'Events::Rule')
  .map(([, { Properties }]) => Properties)
  .filter(({ EventPattern }) => EventPattern !== undefined);

describe('alerts reach a person', () => {
  test('F-59: one rule on the bus matches every alert of the system, and nothing else', () => {
    assert.deepEqual(
      otherRules.map(({ EventPattern }) => EventPattern),
      [{ source: [eventSource], 'detail-type': ['Bulk Run Waiting'] }],
    );
    assert.deepEqual(toOperators?.['EventBusName'], { Ref: idOf('Events::EventBus') });
    assert.deepEqual(toOperators?.['EventPattern'], { source: [eventSource], 'detail-type': alertTypes });
    assert.equal(toOperators?.['State'], 'ENABLED');
  });

  test('F-59: the announcement of an order in Error is an alert; those of exceptions, tasks, bulk runs and processed orders are not', () => {
    const alerts: readonly string[] = alertTypes;
    assert.ok(alerts.includes('Order In Error'));
    assert.deepEqual(
      detailTypes.filter((type) => !alerts.includes(type)),
      ['Order Processed', 'Exception Raised', 'Task Opened', 'Task Reminder', 'Task Resolved', 'Bulk Run Waiting'],
    );
  });

  test('F-59: the EventBridge rule tries for a day to send an alert to the topic, and then puts the alert into the dead-letter queue', () => {
    const [target, ...others] = (toOperators?.['Targets'] ?? []) as readonly object[];
    assert.deepEqual(others, []);
    assert.partialDeepStrictEqual(target, {
      Arn: { Ref: idOf('SNS::Topic') },
      RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
      DeadLetterConfig: { Arn: { 'Fn::GetAtt': [undelivered, 'Arn'] } },
    });
    assert.deepEqual(Object.keys(target ?? {}).toSorted(), ['Arn', 'DeadLetterConfig', 'Id', 'RetryPolicy']);
  });

  test('F-59: the bus has a dead-letter queue, to which the bus and each EventBridge rule may send', () => {
    assert.deepEqual(theOne(stack, 'Events::EventBus').Properties['DeadLetterConfig'], { Arn: { 'Fn::GetAtt': [undelivered, 'Arn'] } });
    const sources = ofType(stack, 'SQS::QueuePolicy')
      .filter(([, { Properties }]) => JSON.stringify(Properties['Queues']).includes(String(undelivered)))
      .flatMap(
        ([, { Properties }]) => (Properties['PolicyDocument'] as { Statement: readonly { Condition: { ArnEquals?: object } }[] }).Statement,
      )
      .flatMap(({ Condition: { ArnEquals } }) => (ArnEquals ? [JSON.stringify(ArnEquals)] : []));
    const senders = [idOf('Events::EventBus'), ...ofType(stack, 'Events::Rule').map(([id]) => id)];
    assert.deepEqual(
      senders.filter((id) => !sources.some((source) => source.includes(`["${id}","Arn"]`))),
      [],
    );
  });
});

interface KeyStatement {
  readonly Action: string | readonly string[];
  readonly Principal: { readonly Service?: string };
  readonly Condition?: object;
}

describe('everything in transit is encrypted', () => {
  test('bus, topic, queues, logs and secret use the same key', () => {
    const attributes = [
      theOne(stack, 'Events::EventBus').Properties['KmsKeyIdentifier'],
      ...ofType(stack, 'SNS::Topic').map(([, { Properties }]) => Properties['KmsMasterKeyId']),
      theOne(stack, 'SecretsManager::Secret').Properties['KmsKeyId'],
      ...ofType(stack, 'SQS::Queue').map(([, { Properties }]) => Properties['KmsMasterKeyId']),
      ...ofType(stack, 'Logs::LogGroup').map(([, { Properties }]) => Properties['KmsKeyId']),
    ];
    for (const attribute of attributes) assert.deepEqual(attribute, { 'Fn::GetAtt': [key, 'Arn'] });
  });

  test('EventBridge may use the key without a condition, as encrypted SNS and SQS require; CloudWatch Logs may use it only for log groups of this account', () => {
    const { Statement } = theOne(stack, 'KMS::Key').Properties['KeyPolicy'] as { Statement: readonly KeyStatement[] };
    const of = (service: string) => Statement.filter(({ Principal }) => Principal.Service?.startsWith(`${service}.`));
    const both = ['kms:Decrypt', 'kms:GenerateDataKey'];
    assert.ok(of('events').some(({ Action, Condition }) => Condition === undefined && both.every((action) => Action.includes(action))));
    assert.ok(
      of('events').some(({ Action, Condition }) => Action.includes('kms:DescribeKey') && JSON.stringify(Condition).includes('event-bus')),
    );
    assert.ok(
      of('cloudwatch').length > 0 && of('cloudwatch').every(({ Condition }) => JSON.stringify(Condition).includes('aws:SourceAccount')),
    );
    assert.ok(of('logs').length > 0 && of('logs').every(({ Condition }) => JSON.stringify(Condition).includes('aws:logs:arn')));
  });

  test('only EventBridge and the alarms of this account may publish on the topic, and only over TLS', () => {
    const { Statement } = ofAlerts('SNS::TopicPolicy').Properties['PolicyDocument'] as {
      Statement: readonly { Effect: string; Action: string; Principal: { Service?: string } | string; Condition?: object }[];
    };
    assert.deepEqual(
      Statement.map(({ Effect, Action, Principal, Condition }) => [
        Effect,
        Action,
        typeof Principal === 'string' ? '*' : Principal.Service,
        Condition,
      ]),
      [
        ['Deny', 'sns:Publish', '*', { Bool: { 'aws:SecureTransport': 'false' } }],
        ['Allow', 'sns:Publish', 'cloudwatch.amazonaws.com', { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } }],
        ['Allow', 'sns:Publish', 'events.amazonaws.com', undefined],
      ],
    );
  });
});

describe('alarms', () => {
  const alarms = ofType(stack, 'CloudWatch::Alarm').map(([, { Properties }]) => Properties);

  test('every alarm notifies the operators, with a description that no other alarm has', () => {
    const sentences = new Set(alarms.map(({ AlarmDescription }) => AlarmDescription));
    assert.equal(sentences.size, alarms.length);
    for (const { AlarmActions } of alarms) assert.deepEqual(AlarmActions, [{ Ref: idOf('SNS::Topic') }]);
  });

  test('missing data raises only the alarm about a silent supervisor', () => {
    const breaching = alarms.filter(({ TreatMissingData }) => TreatMissingData === 'breaching').map(({ AlarmName }) => AlarmName);
    assert.deepEqual(breaching, ['redress-SupervisorSilent-system']);
  });

  test('thresholds are configurable, and alarms can be switched off', () => {
    const patient = ofType(synthesize({ props: { alarms: { QueueBackedUp: 900 } } }), 'CloudWatch::Alarm');
    const thresholds = patient.filter(([, { Properties }]) => String(Properties['AlarmName']).includes('-QueueBackedUp-'));
    assert.deepEqual([...new Set(thresholds.map(([, { Properties }]) => Properties['Threshold']))], [900]);
    assert.equal(patient.length, alarms.length);
    assert.deepEqual(ofType(synthesize({ props: { alarms: false } }), 'CloudWatch::Alarm'), []);
  });
});
