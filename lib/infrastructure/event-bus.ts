import { Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { eventSource } from '#adapters/aws/eventbridge';
import { alertTypes } from '#ports/records';

export interface AnnouncementsProps {
  readonly name: string;
  readonly key: IKey;
  readonly removalPolicy: RemovalPolicy;
}

/** The bus of all announcements, and the topic for those that a person must see (F-59). */
export class Announcements extends Construct {
  readonly bus: EventBus;
  readonly topic: Topic;
  /** The topic of messages for people: one message for the first task of a kind, then summaries. */
  readonly notifications: Topic;
  readonly rule: Rule;
  /** Events that EventBridge could not deliver: announcements, above all alerts, after a day; starts of functions after a minute. */
  readonly undelivered: Queue;

  /**
   * The name of the EventBridge rule, as in its metrics. The stack chooses it, because CloudFormation's `Ref` of a rule of a custom bus is
   * `bus|rule`.
   */
  readonly ruleName: string;

  constructor(scope: Construct, id: string, { name, key, removalPolicy }: AnnouncementsProps) {
    super(scope, id);
    this.undelivered = new Queue(this, 'Undelivered', {
      encryption: QueueEncryption.KMS,
      encryptionMasterKey: key,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      removalPolicy,
    });
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: name,
      description: 'Announcements of Redress',
      kmsKey: key,
      deadLetterQueue: this.undelivered,
    });
    this.bus.applyRemovalPolicy(removalPolicy);
    // CDK adds this permission for rules only, not for a bus.
    this.undelivered.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [this.undelivered.queueArn],
        conditions: { ArnEquals: { 'aws:SourceArn': this.bus.eventBusArn } },
      }),
    );
    this.topic = new Topic(this, 'Alerts', {
      topicName: `${name}-operator-alerts`,
      displayName: 'Redress: operator alerts',
      masterKey: key,
      enforceSSL: true,
    });
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    this.notifications = new Topic(this, 'Notifications', {
      topicName: `${name}-notifications`,
      displayName: 'Redress',
      masterKey: key,
      enforceSSL: true,
    });
    this.ruleName = `${name}-to-operators`;
    this.rule = new Rule(this, 'ToOperators', {
      ruleName: this.ruleName,
      eventBus: this.bus,
      description: 'Announcements that a person must see',
      eventPattern: { source: [eventSource], detailType: [...alertTypes] },
      targets: [new SnsTopic(this.topic, { deadLetterQueue: this.undelivered, maxEventAge: Duration.hours(24), retryAttempts: 185 })],
    });
  }
}
