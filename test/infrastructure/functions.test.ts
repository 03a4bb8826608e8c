import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { describe, test } from '@jest/globals';
import { Lazy } from 'aws-cdk-lib';
import { defineAgent, defineApp, operation } from 'redress';
import * as z from 'zod';
import { SetupError } from '#ports/errors';
import { readConfig } from '#runtime/config';
import { topologyOf } from '#runtime/topology';
import { visibilityOf } from '#runtime/visibility';
import app from './app.ts';
import { entry, functionOf, ofType, synthesize } from './support.ts';

const stack = synthesize({ isBundled: true });
const functions = ofType(stack, 'Lambda::Function').map(([, { Properties }]) => Properties);
const names = topologyOf(app).map(({ name }) => name);

describe('the Lambda functions of the topology', () => {
  test('have the same variables and timeouts as on one machine', () => {
    assert.deepEqual(functions.map(({ Description }) => Description).toSorted(), names.map((name) => `Redress: ${name}`).toSorted());
    for (const { name, environment, timeoutMs } of topologyOf(app)) {
      const { Timeout, Environment } = functionOf(stack, name);
      assert.equal(Number(Timeout) * 1000, timeoutMs, name);
      assert.partialDeepStrictEqual(Environment.Variables, { ...environment, REDRESS_ADAPTERS: 'aws', REDRESS_ROLE: name });
    }
  });

  test('run on Node 24 and ARM, with recursive calls over queues allowed', () => {
    for (const properties of functions)
      assert.partialDeepStrictEqual(properties, {
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        RecursiveLoop: 'Allow',
        Handler: 'index.handler',
      });
  });

  test('have one encrypted log each, kept for three months', () => {
    const logs = new Map(ofType(stack, 'Logs::LogGroup'));
    const own = names.map((name) => functionOf(stack, name).LoggingConfig.LogGroup.Ref);
    assert.equal(new Set(own).size, names.length);
    for (const id of own)
      assert.deepEqual([logs.get(id)?.Properties['RetentionInDays'], logs.get(id)?.Properties['KmsKeyId'] !== undefined], [90, true]);
  });

  test('are called from outside only by the gateway, for the API, and by schedules and an announcement, for the supervisor, the sweeper, the notifier and bulk runs', () => {
    const callers = ofType(stack, 'Lambda::Permission').map(([, { Properties }]) => [
      (Properties['FunctionName'] as { 'Fn::GetAtt': [string] })['Fn::GetAtt'][0].replace(/^OrdersFunction|Function.{8}$/g, ''),
      Properties['Principal'],
      Properties['SourceArn'] !== undefined,
    ]);
    assert.deepEqual(callers.toSorted(), [
      ['api', 'apigateway.amazonaws.com', true],
      ['bulk', 'events.amazonaws.com', true],
      ['bulk', 'events.amazonaws.com', true],
      ['notifier', 'events.amazonaws.com', true],
      ['supervisor', 'events.amazonaws.com', true],
      ['sweeper', 'events.amazonaws.com', true],
    ]);
  });
});

test('every function gets the variables and the tracing; only functions of agents and consumers get the addresses of services', () => {
  const props = {
    variables: { MAX_FAILURES: '5' },
    agentEnvironment: { STOCK_URL: 'https://stock.example' },
    functions: { 'agent-post': { environment: { POST_URL: 'https://post.example' } } },
    tracing: true,
  };
  const configured = synthesize({ props });
  for (const name of names) {
    const { Variables } = functionOf(configured, name).Environment;
    assert.equal(Variables['MAX_FAILURES'], '5');
    assert.equal(Variables['STOCK_URL'] !== undefined, /^(agent|consumer)-/.test(name));
    assert.equal(Variables['POST_URL'] !== undefined, name === 'agent-post');
    assert.deepEqual(functionOf(configured, name)['TracingConfig'], { Mode: 'Active' });
    assert.deepEqual(functionOf(stack, name)['TracingConfig'], undefined);
  }
});

describe('an operation without a step timeout uses the timeout of the deployment', () => {
  const variables = { STEP_COMPLETE_WITHIN_SECONDS: '120' };

  test('the function of its agent may run for that long, and the visibility timeout is six times as long', () => {
    const slow = synthesize({ props: { variables } });
    for (const agent of ['stock', 'post']) {
      assert.equal(functionOf(slow, `agent-${agent}`)['Timeout'], 125);
      const queue = ofType(slow, 'SQS::Queue').find(([, { Properties }]) => Properties['QueueName'] === `redress-${agent}-requests`);
      assert.equal(queue?.[1].Properties['VisibilityTimeout'], 750);
    }
    assert.equal(functionOf(slow, 'scheduler')['Timeout'], functionOf(stack, 'scheduler')['Timeout']);
    assert.equal(functionOf(synthesize({ props: { variables, agents: 'together' } }), 'agents')['Timeout'], 125);
  });

  test('a request that runs alone, because it may crash the process, is invisible on AWS for as long as its function may run', () => {
    const hidden = (more: object) => visibilityOf(app, readConfig({ ...variables, ...more }))('stock-requests');
    assert.equal(hidden({ REDRESS_ADAPTERS: 'aws' }), 125_000);
    assert.equal(hidden({}), 65_000, 'on one machine its visibility timeout is extended while it runs');
  });

  test('the function of an operation with its own timeout may run that long plus the time to reply, within the limit of Lambda', () => {
    const timeoutOf = (limits: object) => {
      const grind = operation({ input: z.object({}), output: z.object({}), ...limits, run: () => ({}) });
      const mill = defineApp({ workflows: [], agents: [defineAgent('mill', { grind })] });
      return topologyOf(mill, { stepMs: 300_000 }).find(({ name }) => name === 'agent-mill')?.timeoutMs;
    };
    assert.equal(timeoutOf({ completeWithinSeconds: 70 }), 75_000);
    assert.equal(timeoutOf({ completeWithinSeconds: 70, longestSeconds: 90 }), 95_000);
    assert.equal(timeoutOf({ longestSeconds: 90 }), 305_000);
    assert.deepEqual(
      [897, 900].map((seconds) => timeoutOf({ longestSeconds: seconds })),
      [900_000, 900_000],
    );
  });

  test('a function gets a variable whose value only CloudFormation knows', () => {
    const level = Lazy.string({ produce: () => 'info' });
    const { Variables } = functionOf(synthesize({ props: { variables: { LOG_LEVEL: level } } }), 'api').Environment;
    assert.equal(Variables['LOG_LEVEL'], 'info');
  });
});

describe('the synthesis refuses what Lambda does not support', () => {
  test('steps of more than fifteen minutes with their replies, and an invalid timeout', () => {
    const refused = (seconds: string, says: RegExp, remedy: RegExp): void =>
      assert.throws(
        () => synthesize({ props: { variables: { STEP_COMPLETE_WITHIN_SECONDS: seconds } } }),
        (error: unknown) => error instanceof SetupError && says.test(error.message) && remedy.test(error.remedy),
      );
    refused('900', /agent-stock.* 905 s.* 900/, /STEP_COMPLETE_WITHIN_SECONDS/);
    refused('ten', /STEP_COMPLETE_WITHIN_SECONDS=ten/, /Correct/);
  });

  test('an operation of more than fifteen minutes', () => {
    const slow = operation({ input: z.object({}), output: z.object({}), longestSeconds: 1000, run: () => ({}) });
    const tooSlow = defineApp({ workflows: [], agents: [defineAgent('mill', { grind: slow })] });
    assert.throws(
      () => synthesize({ props: { app: tooSlow } }),
      (error: unknown) =>
        error instanceof SetupError && /agent-mill.* 1000 s.* 900/.test(error.message) && /longestSeconds/.test(error.remedy),
    );
  });

  test('an app at a path that does not exist', () => {
    assert.throws(
      () => synthesize({ isBundled: true, props: { entry: 'nowhere/app.ts' } }),
      (error: unknown) => error instanceof SetupError && /nowhere\/app\.ts/.test(error.message) && /default export/.test(error.remedy),
    );
  });
});

test('a deployment replaces only changed functions: the same sources give the same code on any machine at any time', () => {
  const bundling = new URL('../../lib/infrastructure/bundle.ts', import.meta.url).href;
  const program = `const { bundle } = await import(${JSON.stringify(bundling)});
    const { FileSystem } = await import(${JSON.stringify(import.meta.resolve('aws-cdk-lib'))});
    process.stdout.write(FileSystem.fingerprint(bundle('scheduler', ${JSON.stringify(entry)}).folder));`;
  const flags = ['-C', 'redress-source', '--disable-warning=ExperimentalWarning', '--input-type=module'];
  const elsewhere = execFileSync(process.execPath, [...flags, '-e', program], { cwd: tmpdir() }).toString();
  const { S3Key } = functionOf(stack, 'scheduler')['Code'] as { S3Key: string };
  assert.equal(`${elsewhere}.zip`, S3Key);
});

test('functions of the same file share their code', () => {
  const codes = new Set(functions.map(({ Code }) => (Code as { S3Key: string }).S3Key));
  assert.equal(codes.size, new Set(topologyOf(app).map(({ file }) => file)).size);
});
