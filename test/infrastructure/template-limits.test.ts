import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from '@jest/globals';
import { App, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { defineAgent, defineApp, operation } from 'redress';
import * as z from 'zod';
import { tableShape } from '#adapters/aws/dynamodb/table';
import type { OrderProcessingProps } from '#infrastructure/order-processing-props';
import { OrderStack } from '#infrastructure/stack';
import { violationsIn } from '#infrastructure/template-limits/index';
import { indexUpdates } from '#infrastructure/template-limits/indexes';
import { lastRelease } from '#infrastructure/template-limits/last-release';
import type { Template, Violation } from '#infrastructure/template-limits/template';
import orders from './app.ts';
import { contextOf, entry } from './support.ts';

const Note = z.object({ note: z.string() });
const work = operation({ input: Note, output: Note, run: (note) => note });
const agents = (count: number, length: number) =>
  defineApp({ workflows: [], agents: Array.from({ length: count }, (_, index) => defineAgent(`a${index}`.padEnd(length, 'x'), { work })) });

type Props = Partial<OrderProcessingProps>;

/** Returns the template of a stack with these properties. */
function templateOf(props: Props, region = 'eu-central-1'): Template {
  const outdir = mkdtempSync(join(tmpdir(), 'redress-limits-'));
  const app = new App({ outdir, analyticsReporting: false, context: contextOf(false) });
  new OrderStack(app, 'Redress', { env: { region }, orders: { app: orders, entry, ...props } });
  const template = app.synth().getStackByName('Redress').template as Template;
  rmSync(outdir, { recursive: true });
  return template;
}

const clients = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `client-${index}`);
const domain = { name: 'orders.example.com', certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/1' };
const issuer = { issuer: 'https://issuer.example', audience: 'orders' };

/** Deployments as users may choose them: sizes, names, alarms, schedules and issuers. */
const configurations: readonly Props[] = [
  {},
  ...[1, 5, 10, 14].map((count) => ({ app: agents(count, 8) })),
  ...[1, 10, 21].map((count) => ({ app: agents(count, 8), agents: 'together' as const })),
  { app: agents(23, 37), alarms: false },
  { app: agents(32, 37), agents: 'together', alarms: false },
  { app: agents(14, 26), name: 'a'.repeat(39) },
  { app: agents(21, 26), agents: 'together', name: 'a'.repeat(39) },
  ...['redress', 'staging', 'a', 'orders-2', 'a'.repeat(39)].map((name) => ({ name, issuer })),
  ...[1, 40].map((count) => ({ clients: clients(count) })),
  ...[5, 15].map((minutes) => ({ supervisorEvery: Duration.minutes(minutes) })),
  { alarms: false, accountConcurrency: 10 },
  { alarms: { QueueBackedUp: 600 }, deletionProtection: false },
  { app: agents(11, 8), deployments: 'canary' },
  { app: agents(18, 26), agents: 'together', deployments: 'canary', backup: {} },
  { domain, firewall: {}, signIn: { callbackUrls: ['https://console.example.com/'] } },
  { issuer },
  { issuer: { ...issuer, keys: JSON.stringify({ keys: [] }) } },
  { removalPolicy: RemovalPolicy.DESTROY, retention: Duration.days(30), logRetention: RetentionDays.ONE_WEEK },
  { tracing: true, sweepEvery: Duration.days(1), throttle: { rateLimit: 10, burstLimit: 20 } },
  { functions: { scheduler: { reservedConcurrency: 40, memorySize: 1024 } }, variables: { MAX_FAILURES: '5' } },
];

test('AWS refuses nothing in thirty deployments of different sizes, names, alarms and schedules', () => {
  assert.ok(configurations.length >= 30);
  for (const [index, props] of configurations.entries()) assert.deepEqual(violationsIn(templateOf(props)), [], `configuration ${index}`);
});

describe('the synthesis finds what AWS would refuse', () => {
  let made: Template | undefined;
  const plain = (): Template => (made ??= templateOf({}));
  const found = (template: Template): readonly string[] => [...new Set(violationsIn(template).map(({ rule }) => rule))];

  /** Returns the default template with some text replaced. */
  const changed = (change: (text: string) => string): Template => {
    const text = JSON.stringify(plain());
    const after = change(text);
    assert.notEqual(after, text);
    return JSON.parse(after) as Template;
  };

  // A6 in docs/internals/findings.md.
  test('a policy with all queues in one statement, above the size that IAM allows', () => {
    const template = templateOf({ app: agents(32, 37), agents: 'together', alarms: false });
    const merged = Object.entries(template.Resources).map(([id, resource]) => [id, withOneStatement(resource)] as const);
    assert.deepEqual(found({ Resources: Object.fromEntries(merged) }), ['PolicyTooLarge']);
  });

  // A7 in docs/internals/findings.md.
  test('an alarm whose metric lacks the deployment, so that other deployments of the account raise it', () => {
    assert.deepEqual(found(changed((text) => text.replace('{"Name":"deployment","Value":"redress"},', ''))), ['SharedMetric']);
  });

  test('a queue whose name is too long, because the deployment and an agent have long names', () => {
    const [first] = violationsIn(templateOf({ app: agents(1, 37), name: 'a'.repeat(39) }));
    assert.deepEqual([first?.rule, first?.property], ['InvalidName', 'QueueName']);
  });

  // A11 in docs/internals/findings.md.
  test('sixty clients in the environment of one function', () => {
    const [{ rule, problem, remedy } = {} as Violation] = violationsIn(templateOf({ clients: clients(60) }));
    assert.equal(rule, 'EnvironmentTooLarge');
    assert.match(
      problem,
      /^The variables of the function would have \d+ bytes, but Lambda allows 4096\. The largest one is REDRESS_\w+\.$/,
    );
    assert.match(remedy, /PUT \/clients/);
  });

  test.each(['my_orders', 'Orders', 'aws-orders', 'a'.repeat(64)])('the name %s for the domain of a user pool', (domain) => {
    const [[id, resource] = ['', undefined]] = Object.entries(plain().Resources).filter(
      ([, { Type }]) => Type === 'AWS::Cognito::UserPoolDomain',
    );
    const Resources = { [id]: { ...resource, Type: 'AWS::Cognito::UserPoolDomain', Properties: { Domain: domain } } };
    assert.deepEqual(found({ Resources }), ['InvalidName']);
  });

  // A13 in docs/internals/findings.md.
  test('a reference to a rule of a custom bus, which CloudFormation answers with "bus|rule"', () => {
    const { Resources } = plain();
    const id = Object.keys(Resources).find((each) => Resources[each]?.Properties?.['EventBusName'] !== undefined);
    const Dimensions = [{ Name: 'RuleName', Value: { Ref: id } }];
    assert.deepEqual(found({ Resources: { ...Resources, Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties: { Dimensions } } } }), [
      'RuleReference',
    ]);
  });

  // A13 in docs/internals/findings.md.
  test('a dashboard without its region, which a second region would refuse', () => {
    assert.deepEqual(found(changed((text) => text.replace('"redress-eu-central-1"', '"redress"'))), ['GlobalName']);
  });

  // A13 in docs/internals/findings.md.
  test('an alarm about silence that fires between two runs of its function', () => {
    assert.deepEqual(found(changed((text) => text.replace('"rate(1 minute)"', '"rate(15 minutes)"'))), ['AlarmBetweenRuns']);
  });

  test('an alarm on throttles of the table that leaves out an index', () => {
    const withoutOne = (text: string) => text.replace(/"Name":"GlobalSecondaryIndexName","Value":"worklist"/, '"Name":"Other","Value":"x"');
    assert.deepEqual(found(changed(withoutOne)), ['IndexNotWatched']);
  });

  test('a function that logs plain text', () => {
    assert.deepEqual(found(changed((text) => text.replace('"LogFormat":"JSON"', '"LogFormat":"Text"'))), ['PlainLog']);
  });
});

/** Merges the statements of a policy that have the same actions, as before they were split. */
function withOneStatement(resource: Template['Resources'][string]): Template['Resources'][string] {
  const document = resource.Properties?.['PolicyDocument'] as { Statement: readonly { Action: unknown; Resource: unknown }[] } | undefined;
  if (resource.Type !== 'AWS::IAM::ManagedPolicy' || !document) return resource;
  const [first] = document.Statement;
  const resources = document.Statement.flatMap(({ Resource }) => Resource);
  const all = [...resources, ...resources, ...resources];
  return { ...resource, Properties: { ...resource.Properties, PolicyDocument: { ...document, Statement: [{ ...first, Resource: all }] } } };
}

describe('an update of a deployment changes one index at most', () => {
  const ofThis = tableShape.GlobalSecondaryIndexes.map(({ IndexName, KeySchema = [] }) =>
    [IndexName, ...KeySchema.map(({ AttributeName }) => AttributeName)].join(' '),
  );
  const changesSince = (indexes: readonly string[]) => indexUpdates({ version: '1.0.0', indexes })(templateOf({}));

  test('DynamoDB can bring a deployment of the last release to these indexes', () => {
    assert.deepEqual(indexUpdates(lastRelease)(templateOf({})), []);
  });

  test('an update may create one index, or delete one', () => {
    for (const indexes of [ofThis, ofThis.slice(1), [...ofThis, 'by-name name at']]) assert.deepEqual(changesSince(indexes), []);
  });

  test('two new indexes, or one with other keys, are refused with a remedy', () => {
    assert.match(String(changesSince(ofThis.slice(2))[0]?.problem), /^An update from 1.0.0 creates worklist .*, and creates in-error /);
    const [other] = changesSince(ofThis.map((each) => each.replace('by-day dayShard', 'by-day day')));
    assert.match(String(other?.problem), /creates by-day dayShard listedAt, and deletes by-day day listedAt/);
    assert.match(String(other?.remedy), /the release after it/);
  });
});
