import assert from 'node:assert/strict';
import { describe, test } from '@jest/globals';
import type { Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { allowedBy, statementsOf } from './policies.ts';
import { functionOf, ofType, type Synthesized, synthesize } from './support.ts';

const stack = synthesize({ isChecked: true });
const external = { issuer: 'https://id.example', audience: 'orders', keys: '{"keys":[]}' };

describe('G21: cdk-nag finds nothing but acknowledged findings', () => {
  test('with the defaults, with optional settings and with an external issuer, there are no open findings', () => {
    const everything = {
      agents: 'together',
      clients: ['acme'],
      tracing: true,
      replicas: [{ region: 'eu-west-1', keyArn: 'arn:aws:kms:eu-west-1:123456789012:key/1' }],
    } as const;
    for (const synthesized of [
      stack,
      synthesize({ isChecked: true, props: everything }),
      synthesize({ isChecked: true, props: { issuer: external } }),
    ])
      assert.deepEqual(
        synthesized.open.map(({ ruleName, violatingConstructs }) => [ruleName, violatingConstructs[0]?.constructPath]),
        [],
      );
  });

  test('at most eight rules of AwsSolutions are acknowledged, each with a reason', () => {
    const kinds = Map.groupBy(
      stack.acknowledged.filter(({ ruleName }) => ruleName.startsWith('AwsSolutions')),
      ({ ruleName }) => ruleName.replace(/\[.*/, ''),
    );
    assert.ok(kinds.size <= 8, [...kinds.keys()].join(', '));
    for (const { ruleName, reason = '' } of stack.acknowledged) assert.match(reason, /^[A-Z].{30,}\.$/, ruleName);
  });

  test('cdk-nag does run: it reports a queue with the defaults of the CDK', () => {
    const { open } = synthesize({ isChecked: true, change: (orders) => void new Queue(orders, 'Plain') });
    assert.ok(open.some(({ ruleName }) => ruleName.startsWith('AwsSolutions-SQS')));
    assert.ok(open.every(({ violatingConstructs }) => violatingConstructs[0]?.constructPath.startsWith('Redress/Plain/')));
  });
});

describe('the template contains no secrets', () => {
  /** Names that CDK generates are not values. */
  const names = new Set(['Ref', 'Fn::GetAtt', 'Sid', 'PolicyName']);
  const texts = (value: unknown): readonly string[] => {
    if (typeof value === 'string') return [value];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, part]) => (names.has(name) ? [] : texts(part)));
  };
  /** Returns the entropy in bits per character. */
  const entropyOf = (text: string): number => {
    const counts = Map.groupBy(text, (character) => character);
    return [...counts.values()].reduce((sum, { length }) => sum - (length / text.length) * Math.log2(length / text.length), 0);
  };
  const looksSecret = (text: string): boolean =>
    /BEGIN [A-Z ]*PRIVATE KEY|AKIA[A-Z0-9]{16}/.test(text) ||
    (text.match(/[A-Za-z0-9+/_=-]{24,}/g) ?? []).some(
      (word) => /\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word) && entropyOf(word) > 4.2,
    );

  test('G21: no value looks like a key, a token or a password', () => {
    const { resources } = synthesize({ props: { clients: ['acme'] } });
    const own = Object.values(resources).map(({ Properties }) => Properties);
    assert.deepEqual(texts([own, stack.outputs]).filter(looksSecret), []);
    assert.ok(looksSecret('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'));
  });

  test('the key of list cursors is generated in Secrets Manager, and only the API gets its ARN', () => {
    assert.partialDeepStrictEqual(ofType(stack, 'SecretsManager::Secret')[0]?.[1].Properties, {
      GenerateSecretString: { PasswordLength: 64 },
    });
    const withAddress = [...stack.orders.functions.keys()].filter(
      (name) => functionOf(stack, name).Environment.Variables['REDRESS_CURSOR_SECRET'],
    );
    assert.deepEqual(withAddress, ['api']);
  });
});

const programRole = (scope: Stack): Role => new Role(scope, 'Program', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
const allowedTo = (synthesized: Synthesized): readonly string[] => {
  const role = ofType(synthesized, 'IAM::Role').find(([id]) => id.startsWith('Program'));
  return [...allowedBy(statementsOf(synthesized, role?.[0] ?? ''), synthesized)].toSorted();
};

describe('grants allow what is needed, and nothing else', () => {
  test('F-02: a program that submits by message may send to the submissions queue', () => {
    const allowed = allowedTo(synthesize({ change: (orders) => void orders.orders.grantSubmit(programRole(orders)) }));
    const queue = allowed.filter((each) => !each.startsWith('kms:'));
    assert.deepEqual(
      queue,
      ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:SendMessage'].map((action) => `${action} queue/submissions`),
    );
    assert.ok(
      ['kms:Decrypt', 'kms:GenerateDataKey*'].every((action) => allowed.includes(`${action} KMS::Key`)),
      allowed.join(', '),
    );
  });

  const queues = [
    'ledger-messages',
    'post-replies',
    'post-requests',
    'stock-replies',
    'stock-requests',
    'submissions',
    'wake-ups',
    'workflows-replies',
    'workflows-requests',
  ].map((queue) => `queue/${queue}`);
  const deadLetters = queues.map((queue) => `${queue}-dead`);
  const on = (names: readonly string[], ...actions: readonly string[]) =>
    actions.flatMap((action) => names.map((name) => `${action} ${name}`));
  const keyConditions = (synthesized: Synthesized) => {
    const [role] = ofType(synthesized, 'IAM::Role').find(([id]) => id.startsWith('Program')) ?? [''];
    return statementsOf(synthesized, role).flatMap(({ Action, Condition }) => (String(Action).includes('kms:') ? [Condition] : []));
  };
  const throughSqs = [{ StringEquals: { 'kms:ViaService': 'sqs.eu-central-1.amazonaws.com' } }];

  test('an operator may subscribe to alerts and read undelivered alerts, but no message of an order', () => {
    const synthesized = synthesize({ change: (orders) => void orders.orders.grantOperate(programRole(orders)) });
    const expected = [
      ...on(['queue/undelivered'], 'sqs:DeleteMessage', 'sqs:ReceiveMessage'),
      ...on([...queues, ...deadLetters, 'queue/undelivered'], 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl'),
      ...on(deadLetters, 'sqs:CancelMessageMoveTask', 'sqs:ListMessageMoveTasks'),
      ...on(['KMS::Key'], 'kms:Decrypt'),
      ...on(['SNS::Topic'], 'sns:Subscribe'),
    ];
    assert.deepEqual(allowedTo(synthesized), expected.toSorted());
    assert.deepEqual(keyConditions(synthesized), throughSqs);
  });

  test('a redrive needs a grant of its own, which reads dead letters and sends to their queues', () => {
    const synthesized = synthesize({ change: (orders) => void orders.orders.grantRedrive(programRole(orders)) });
    const expected = [
      ...on(deadLetters, 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:ReceiveMessage'),
      ...on(deadLetters, 'sqs:CancelMessageMoveTask', 'sqs:ListMessageMoveTasks', 'sqs:StartMessageMoveTask'),
      ...on(queues, 'sqs:GetQueueUrl', 'sqs:SendMessage'),
      ...on(['KMS::Key'], 'kms:Decrypt', 'kms:GenerateDataKey'),
    ];
    assert.deepEqual(allowedTo(synthesized), expected.toSorted());
    assert.deepEqual(keyConditions(synthesized), throughSqs);
  });
});

describe('the outputs of the stack', () => {
  test('contain the address of the API, and the names with which a program finds the other resources', () => {
    const withAddress = (name: string): unknown => stack.outputs[name]?.Value;
    assert.deepEqual(Object.keys(stack.outputs).toSorted(), [
      'AlertsTopicArn',
      'ApiUrl',
      'AuditLogGroup',
      'BusName',
      'QueuePrefix',
      'SignInUrl',
      'TableName',
      'UserPoolClientId',
      'UserPoolId',
    ]);
    assert.equal(withAddress('QueuePrefix'), 'redress-');
    assert.deepEqual(withAddress('TableName'), { Ref: ofType(stack, 'DynamoDB::GlobalTable')[0]?.[0] });
    assert.deepEqual(withAddress('ApiUrl'), { 'Fn::GetAtt': [ofType(stack, 'ApiGatewayV2::Api')[0]?.[0], 'ApiEndpoint'] });
  });

  test('contain the app client of each submitting program, and no user pool if another issuer is configured', () => {
    const { outputs, resources } = synthesize({ props: { clients: ['acme'] } });
    assert.ok(outputs['Clientacme']);
    assert.match(JSON.stringify(functionOf({ resources }, 'api').Environment.Variables['REDRESS_CLIENTS']), /acme/);
    const other = synthesize({ props: { issuer: external } });
    assert.deepEqual(ofType(other, 'Cognito::UserPool'), []);
    assert.equal(other.outputs['UserPoolId'], undefined);
    assert.partialDeepStrictEqual(functionOf(other, 'api').Environment.Variables, {
      REDRESS_ISSUER: external.issuer,
      REDRESS_AUDIENCE: external.audience,
      REDRESS_ISSUER_KEYS: external.keys,
    });
    assert.equal(functionOf(other, 'scheduler').Environment.Variables['REDRESS_ISSUER'], undefined);
  });
});
