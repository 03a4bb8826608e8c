import assert from 'node:assert/strict';
import { describe, test } from '@jest/globals';
import { App, Duration, Stack } from 'aws-cdk-lib';
import { BackupVault } from 'aws-cdk-lib/aws-backup';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { OrderProcessing } from '#infrastructure/order-processing';
import type { OrderProcessingProps } from '#infrastructure/order-processing-props';
import { violationsIn } from '#infrastructure/template-limits/index';
import type { Template } from '#infrastructure/template-limits/template';
import { SetupError } from '#ports/errors';
import app from './app.ts';
import { type Statement, statementsOf } from './policies.ts';
import { defaults, entry, functionOf, ofType, region, type Synthesized, synthesize, theOne } from './support.ts';

/** A stack for what belongs to others: the network, the credentials and the vault. */
const others = new Stack(new App(), 'Others', { env: { region, account: '123456789012' } });
const vaultArn = `arn:aws:backup:eu-west-1:210987654321:backup-vault:copies`;
const secretArn = `arn:aws:secretsmanager:${region}:123456789012:secret:payment-AbCdEf`;
const certificateArn = `arn:aws:acm:${region}:123456789012:certificate/1`;
const domain = { name: 'orders.example.com', certificateArn };

/** Everything on that a deployment for production may want. */
const stack = synthesize({
  isChecked: true,
  props: {
    domain,
    disableExecuteApiEndpoint: true,
    firewall: { anonymousPerIp: 100 },
    vpc: {
      vpc: Vpc.fromVpcAttributes(others, 'Vpc', {
        vpcId: 'vpc-0123456789abcdef0',
        availabilityZones: ['a'],
        privateSubnetIds: ['subnet-0123456789abcdef0'],
      }),
    },
    agentCredentials: { PAYMENT_KEY: { secret: Secret.fromSecretCompleteArn(others, 'Payment', secretArn), field: 'key' } },
    functions: {
      'agent-post': {
        credentials: {
          POST_KEY: { parameter: StringParameter.fromSecureStringParameterAttributes(others, 'Post', { parameterName: '/post/key' }) },
        },
      },
    },
    deployments: 'canary',
    accountConcurrency: 400,
    backup: { keep: Duration.days(90), copyTo: BackupVault.fromBackupVaultArn(others, 'Copies', vaultArn) },
  },
});

const roleIdOf = (name: string): string => functionOf(stack, name).Role['Fn::GetAtt'][0];
const statementsFor = (name: string, action: string): readonly Statement[] =>
  statementsOf(stack, roleIdOf(name)).filter(({ Action }) => [Action].flat().includes(action));
const callers = ['agent-stock', 'agent-post', 'consumer-ledger'];
const names = [...stack.orders.functions.keys()];

/** Asserts that the construct refuses properties, with a remedy. Nothing is synthesized. */
const refused = (props: Partial<OrderProcessingProps>, says: RegExp, remedy: RegExp): void =>
  assert.throws(
    () =>
      new OrderProcessing(new Stack(new App({ analyticsReporting: false }), 'Refused', { env: { region } }), 'Orders', {
        app,
        entry,
        ...props,
      }),
    (error: unknown) => error instanceof SetupError && says.test(error.message) && remedy.test(error.remedy),
  );

test('a deployment with everything that production may want has no open finding, and AWS refuses nothing in it', () => {
  assert.deepEqual(
    stack.open.map(({ ruleName, violatingConstructs: [each] }) => [ruleName, each?.constructPath]),
    [],
  );
  assert.deepEqual(violationsIn({ Resources: stack.resources } as unknown as Template), []);
});

describe('A8: the firewall of the API', () => {
  const rules = theOne(stack, 'WAFv2::WebACL').Properties['Rules'] as readonly {
    readonly Statement: { readonly RateBasedStatement: { readonly [name: string]: unknown } };
    readonly Action: { readonly Block: { readonly CustomResponse: { readonly ResponseCode: number } } };
  }[];

  test('limits requests without a token, and all requests, for each address, and answers with 429', () => {
    const rates = rules.map(({ Statement: { RateBasedStatement: rate } }) => [
      rate['AggregateKeyType'],
      rate['Limit'],
      rate['EvaluationWindowSec'],
    ]);
    assert.deepEqual(rates, [
      ['IP', 100, 300],
      ['IP', 30_000, 300],
    ]);
    assert.match(JSON.stringify(rules[0]), /"NotStatement".*"Name":"authorization"/);
    assert.doesNotMatch(JSON.stringify(rules[1]), /authorization/);
    assert.deepEqual(
      rules.map(({ Action }) => Action.Block.CustomResponse.ResponseCode),
      [429, 429],
    );
  });

  test('stands before the only address of the API, so no request bypasses it', () => {
    const [[stage] = ['']] = ofType(stack, 'ApiGateway::Stage');
    assert.match(JSON.stringify(theOne(stack, 'WAFv2::WebACLAssociation').Properties['ResourceArn']), new RegExp(`stages/.*${stage}`));
    assert.deepEqual(ofType(stack, 'ApiGatewayV2::Api'), []);
    assert.equal(theOne(stack, 'ApiGateway::RestApi').Properties['DisableExecuteApiEndpoint'], true);
    assert.equal(stack.outputs['ApiUrl']?.Value, 'https://orders.example.com');
  });

  test('a firewall without a domain, together with an authorizer, or with a limit that WAF does not accept is refused', () => {
    refused({ firewall: {} }, /Without a domain/, /domain/);
    refused({ firewall: {}, domain, authorizer: {} }, /exclude each other/, /Leave out `authorizer`/);
    refused({ firewall: { requestsPerIp: 1 }, domain }, /firewall.requestsPerIp 1: expected .* 10/, /firewall/);
  });
});

describe('A15: functions in a network', () => {
  test('the agents and consumers run in its private subnets, with one security group for all; the other functions stay outside', () => {
    const { Ref, 'Fn::GetAtt': group = [Ref] } = (theGroups('agent-stock')[0] ?? {}) as { Ref?: string; 'Fn::GetAtt'?: [string] };
    assert.ok(ofType(stack, 'EC2::SecurityGroup').some(([id]) => id === group[0]));
    for (const name of names) assert.deepEqual(theGroups(name), callers.includes(name) ? theGroups('agent-stock') : [], name);
  });

  test('Lambda may create network interfaces with the role of an agent, and the code of the agent may not', () => {
    const effects = statementsFor('agent-stock', 'ec2:CreateNetworkInterface').map(({ Effect, Condition }) => [Effect, Condition]);
    assert.deepEqual(effects, [
      ['Allow', undefined],
      ['Deny', { Null: { 'lambda:SourceFunctionArn': 'false' } }],
    ]);
    assert.deepEqual(statementsFor('api', 'ec2:CreateNetworkInterface'), []);
  });

  const theGroups = (name: string): readonly unknown[] =>
    (functionOf(stack, name)['VpcConfig'] as { SecurityGroupIds?: readonly unknown[] } | undefined)?.SecurityGroupIds ?? [];
});

describe('A15: credentials of agents', () => {
  test('the template says where the credentials are stored, and contains none of their values', () => {
    const placesOf = (name: string): unknown => functionOf(stack, name).Environment.Variables['REDRESS_CREDENTIALS'];
    const shared = { PAYMENT_KEY: { secret: secretArn, field: 'key' } };
    for (const name of ['agent-stock', 'consumer-ledger']) assert.deepEqual(JSON.parse(String(placesOf(name))), shared);
    assert.deepEqual(JSON.parse(String(placesOf('agent-post'))), { ...shared, POST_KEY: { parameter: '/post/key' } });
    for (const name of names.filter((each) => !callers.includes(each))) assert.equal(placesOf(name), undefined, name);
    assert.doesNotMatch(JSON.stringify(stack.resources), /resolve:(secretsmanager|ssm)/);
  });

  test('an agent may read its own credentials, and no others', () => {
    assert.deepEqual(
      statementsFor('agent-stock', 'secretsmanager:GetSecretValue').map(({ Resource }) => Resource),
      [secretArn],
    );
    assert.deepEqual(statementsFor('agent-stock', 'ssm:GetParameter'), []);
    assert.match(JSON.stringify(statementsFor('agent-post', 'ssm:GetParameter')), /parameter\/post\/key"/);
    for (const name of ['scheduler', 'supervisor']) assert.deepEqual(statementsFor(name, 'secretsmanager:GetSecretValue'), [], name);
  });

  test('a credential is refused if its name is not a valid name of a variable', () => {
    const secret = Secret.fromSecretCompleteArn(others, 'Named', secretArn);
    refused({ agentCredentials: { 'payment-key': { secret } } }, /"payment-key": expected letters/, /PAYMENT_KEY/);
  });
});

describe('a canary of a deployment', () => {
  const aliasOf = (functionName: unknown): boolean =>
    ofType(stack, 'Lambda::Alias').some(([id]) => JSON.stringify(functionName).includes(`"${id}"`));

  test('queues, schedules and the gateway start the alias of each function, never the function itself', () => {
    for (const [id, { Properties }] of ofType(stack, 'Lambda::EventSourceMapping')) assert.ok(aliasOf(Properties['FunctionName']), id);
    for (const [id, { Properties }] of ofType(stack, 'Lambda::Permission')) assert.ok(aliasOf(Properties['FunctionName']), id);
    const started = ofType(stack, 'Events::Rule').filter(([, { Properties }]) => Properties['ScheduleExpression'] !== undefined);
    for (const [id, { Properties }] of started) assert.ok(aliasOf(Properties['Targets']), id);
    for (const [id, { Properties }] of ofType(stack, 'ApiGateway::Method')) assert.ok(aliasOf(Properties['Integration']), id);
    assert.equal(started.length, 4);
  });

  test('a tenth of the runs of each function use the new version for ten minutes, and an alarm on errors of a function rolls its deployment back', () => {
    const groups = ofType(stack, 'CodeDeploy::DeploymentGroup').map(([, { Properties }]) => Properties);
    assert.equal(groups.length, names.length);
    for (const { DeploymentConfigName, AlarmConfiguration, AutoRollbackConfiguration } of groups) {
      assert.equal(DeploymentConfigName, 'CodeDeployDefault.LambdaCanary10Percent10Minutes');
      assert.match(JSON.stringify(AlarmConfiguration), /FunctionFails/);
      assert.match(JSON.stringify(AutoRollbackConfiguration), /DEPLOYMENT_STOP_ON_ALARM/);
    }
    refused({ deployments: 'canary', alarms: false }, /needs alarms/, /deployments/);
  });

  test('a channel closes even if its mapping names the alias', () => {
    const [statement] = statementsFor('scheduler', 'lambda:UpdateEventSourceMapping');
    assert.match(JSON.stringify(statement?.Condition), /"Arn"\]},{"Fn::Join":\["",\[{"Fn::GetAtt":\["[^"]+","Arn"\]},":live"\]\]}/);
  });
});

describe('copies of the table', () => {
  test('AWS Backup copies the table every day into a vault that nobody can empty, and into another account', () => {
    const plan = JSON.stringify(theOne(stack, 'Backup::BackupPlan').Properties['BackupPlan']);
    assert.match(plan, /"ScheduleExpression":"cron\(0 3 \* \* \? \*\)"/);
    assert.match(plan, new RegExp(`"DestinationBackupVaultArn":"${vaultArn}"`));
    assert.match(plan, /"DeleteAfterDays":90/);
    const [[table] = ['']] = ofType(stack, 'DynamoDB::GlobalTable');
    assert.match(JSON.stringify(theOne(stack, 'Backup::BackupSelection').Properties), new RegExp(`"${table}","Arn"`));
    const { Properties, DeletionPolicy } = theOne(stack, 'Backup::BackupVault');
    assert.match(JSON.stringify(Properties['AccessPolicy']), /"Effect":"Deny"/);
    assert.ok(Properties['EncryptionKeyArn']);
    assert.equal(DeletionPolicy, 'RetainExceptOnCreate');
  });
});

describe('A8: the concurrent Lambda instances of the account', () => {
  const concurrencyOf = (synthesized: Pick<Synthesized, 'resources'>): number =>
    ofType(synthesized, 'Lambda::EventSourceMapping').reduce(
      (sum, [, { Properties }]) => sum + (Properties['ScalingConfig'] as { MaximumConcurrency: number }).MaximumConcurrency,
      0,
    );

  test('the functions behind queues use at most half of the instances of the account, so that the API and the supervisor keep the others', () => {
    const deadLetterQueues = 8 * 2;
    assert.ok(concurrencyOf(stack) <= 200 + deadLetterQueues, `${concurrencyOf(stack)}`);
    assert.ok(concurrencyOf(defaults()) <= 500 + deadLetterQueues, `${concurrencyOf(defaults())}`);
  });

  test('reservations that leave too few instances are refused, and so is a quota that no account has', () => {
    refused({ accountConcurrency: 150, functions: { api: { reservedConcurrency: 60 } } }, /reserve 60 of 150.* 100/, /at most 50/);
    refused({ accountConcurrency: 5 }, /accountConcurrency 5/, /Concurrent executions/);
  });
});

describe('A15: the data of a removed stack', () => {
  const kept = ['DynamoDB::GlobalTable', 'KMS::Key', 'Cognito::UserPool'];

  test('table, key and user pool stay when the stack is removed, but CloudFormation deletes them after a failed first deployment', () => {
    for (const type of kept) assert.equal(theOne(stack, type).DeletionPolicy, 'RetainExceptOnCreate', type);
    assert.equal(stack.orders.node.scope instanceof Stack && stack.orders.node.scope.terminationProtection, true);
    assert.equal(theOne(stack, 'Cognito::UserPool').Properties['DeletionProtection'], 'ACTIVE');
    assert.match(JSON.stringify(theOne(stack, 'DynamoDB::GlobalTable').Properties), /"DeletionProtectionEnabled":true/);
  });
});
