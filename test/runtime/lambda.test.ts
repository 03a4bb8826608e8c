import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { APIGatewayProxyStructuredResultV2, SQSBatchResponse } from 'aws-lambda';
import { compensate, defineAgent, defineApp, defineWorkflow, operation, sequence } from 'redress';
import * as z from 'zod';
import { type Aws, openAws } from '#adapters/aws/open';
import { openLocalIssuer } from '#api/local-issuer';
import type { App } from '#authoring/workflow';
import { systemClock } from '#ports/clock';
import { collections } from '#ports/documents';
import { queueEvent } from '#runtime/host/event-source';
import { loadFunction } from '#runtime/host/load';
import { inLambda, type LambdaHandler } from '#runtime/lambda';
import { type Deployment, deployed, startEmulators } from '../adapters/aws/deployment.ts';
import app from '../infrastructure/app.ts';

const { endpoints, stop } = await startEmulators();
test.after(stop);
const folder = mkdtempSync(join(tmpdir(), 'redress-lambda-'));
const issuer = openLocalIssuer(folder);
rmSync(folder, { recursive: true });

/** A stand-in for Secrets Manager, which answers `GetSecretValue`; no npm package emulates it. */
const secrets = { requested: 0, missing: 0 };
const secretsManager = createServer((_, response) => {
  secrets.requested += 1;
  response.setHeader('content-type', 'application/x-amz-json-1.1');
  if (secrets.missing-- > 0)
    return response.writeHead(400).end(JSON.stringify({ __type: 'ResourceNotFoundException', message: 'not yet' }));
  return response.end(JSON.stringify({ SecretString: 'k'.repeat(64) }));
}).listen(0, '127.0.0.1');
await once(secretsManager, 'listening');
test.after(() => secretsManager.close());

/** Starts functions as Lambda does, one after the other; the test sets the time limit of a run. */
async function openLambda(context: TestContext, its: App = app) {
  const deployment: Deployment = await deployed(its, endpoints);
  const { port } = secretsManager.address() as AddressInfo;
  // The SDK reads this address from the environment.
  Object.assign(process.env, deployment.variables, { AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${port}` });
  const aws: Aws = openAws(deployment, { clock: systemClock, endpoints });
  context.after(() => aws.close());
  const printed: string[] = [];

  const start = async (
    file: string,
    more: { readonly [name: string]: string } = {},
    edited: App = its,
  ): Promise<(event: unknown, leftMs?: number) => Promise<unknown>> => {
    const { create } = await loadFunction(file);
    const environment = {
      ...deployment.variables,
      DEFAULT_WORKFLOW: its.workflows[0]?.name ?? '',
      LOG_LEVEL: 'off',
      REDRESS_ROLE: file,
      ...more,
    };
    const handler: LambdaHandler = inLambda({ app: edited, create, environment, print: (line) => printed.push(line) });
    return (event, leftMs = 30_000) => {
      const until = Date.now() + leftMs;
      return handler(event, { getRemainingTimeInMillis: () => until - Date.now(), awsRequestId: 'run-1' });
    };
  };
  /** Returns the messages of a queue as an event source of Lambda delivers them. */
  const eventFrom = async (queue: string) => {
    const messages = await aws.queues.receive(queue, { max: 10, visibilityMs: 30_000, waitMs: 0 });
    const eventSourceARN = `arn:aws:sqs:eu-central-1:123456789012:${deployment.queuePrefix}${queue}`;
    return { Records: queueEvent(queue, messages).Records.map((record) => ({ ...record, eventSourceARN })) };
  };
  return { aws, start, eventFrom, printed };
}

const api = { REDRESS_ISSUER: issuer.issuer, REDRESS_AUDIENCE: issuer.audience, REDRESS_ISSUER_KEYS: JSON.stringify(issuer.keys) };
const agent = { REDRESS_AGENTS: 'stock' };

async function submission(item: string) {
  const token = await issuer.sign({ role: 'client', client: 'shop' });
  return {
    rawPath: '/orders',
    rawQueryString: '',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': item },
    requestContext: { http: { method: 'POST' } },
    body: JSON.stringify({ order: { item } }),
    isBase64Encoded: false,
  };
}

const failuresIn = (answer: unknown): number => (answer as SQSBatchResponse).batchItemFailures.length;

describe('a function in Lambda', () => {
  test('is configured by its environment alone, and maps its queue names to the prefixed queues of the deployment', async (t) => {
    const { aws, start, eventFrom } = await openLambda(t);
    const answer = (await (await start('api', api))(await submission('tea'))) as APIGatewayProxyStructuredResultV2;
    assert.equal(answer.statusCode, 202, answer.body);
    const { orderId } = JSON.parse(answer.body ?? '') as { orderId: string };

    assert.equal(failuresIn(await (await start('agent', agent))(await eventFrom('stock-requests'))), 0);
    assert.equal(failuresIn(await (await start('scheduler'))(await eventFrom('stock-replies'))), 0);
    assert.partialDeepStrictEqual(await aws.store.head(orderId), { processState: 'Processed', outcome: 'completed' });
  });

  test('F-62, F-65, F-173: starts the services of the app once, emits its events, and ends no run before its listeners have ended', async (t) => {
    const course: string[] = [];
    const note = (line: string) => new Promise<void>((resolve) => setTimeout(() => resolve(void course.push(line)), 300));
    const counting: App = {
      ...app,
      services: [{ name: 'tally', start: ({ role }) => note(`tally starts in ${role}`) }],
      on: {
        started: ({ role }) => note(`${role} is started`),
        workflowTerminated: ({ workflow, fault }) => note(`${workflow.name} waits for a person: ${fault?.type}`),
      },
    };
    const { start, eventFrom } = await openLambda(t, counting);
    await (await start('api', api))(await submission('sold out'));
    await (await start('agent', agent))(await eventFrom('stock-requests'));
    course.length = 0;
    const scheduler = await start('scheduler');
    await scheduler(await eventFrom('stock-replies'));
    course.push('the run ends');
    assert.deepEqual(course, ['tally starts in scheduler', 'scheduler is started', 'one waits for a person: SoldOut', 'the run ends']);
    await scheduler(await eventFrom('stock-replies'));
    assert.equal(course.length, 4);
  });

  test('accepts no token if no issuer is configured', async (t) => {
    const { start } = await openLambda(t);
    const answer = (await (await start('api'))(await submission('tea'))) as APIGatewayProxyStructuredResultV2;
    assert.equal(answer.statusCode, 401);
  });

  test('fails its event if it cannot start, and starts again with the next one', async (t) => {
    const { start } = await openLambda(t);
    Object.assign(secrets, { requested: 0, missing: 2 });
    const handler = await start('api', { ...api, REDRESS_CURSOR_SECRET: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:key' });
    const event = await submission('coffee');
    // Lambda makes the first attempt during its initialization, and reports that failure to no caller.
    await new Promise((resolve) => setTimeout(resolve, 200));
    await assert.rejects(handler(event), /not yet/);
    assert.equal(((await handler(event)) as APIGatewayProxyStructuredResultV2).statusCode, 202);
    await handler(event);
    assert.equal(secrets.requested, 3);
  });

  test('logs the warnings about its workflows once at its start', async (t) => {
    const Nothing = z.object({});
    const shop = defineAgent('stock', { take: operation({ input: Nothing, output: Nothing, run: () => ({}) }) });
    const build = () => sequence(sequence(shop.take({})).named('all'), compensate('all'));
    const workflow = defineWorkflow('odd', { version: 1, order: Nothing }, build);
    const lines: string[] = [];
    t.mock.method(process.stderr, 'write', (line: string) => lines.push(line) > 0);
    const { start, eventFrom } = await openLambda(t, defineApp({ workflows: [workflow], agents: [shop] }));
    const handler = await start('scheduler', { LOG_LEVEL: 'warn' });
    for (const _ of ['first', 'second']) await handler(await eventFrom('wake-ups'));
    const warned = lines.filter((line) => line.includes('"level":"warn"'));
    assert.equal(warned.length, 1);
    assert.match(warned[0] ?? '', /odd@1, order\/all\/take: This step has no undo/);
  });

  test('reads the key of list cursors only if it is configured', async (t) => {
    const { start, eventFrom } = await openLambda(t);
    Object.assign(secrets, { requested: 0, missing: 0 });
    for (const [file, more] of [
      ['scheduler', {}],
      ['agent', agent],
      ['dead-letter', {}],
    ] as const)
      await (await start(file, more))(await eventFrom('wake-ups'));
    assert.equal(secrets.requested, 0);
  });

  test('S20: does not start with a workflow that has changed under its version, if it starts or continues orders', async (t) => {
    const { start, aws } = await openLambda(t);
    await (await start('scheduler'))({ Records: [] });
    const [first = assert.fail(), ...rest] = app.workflows;
    const edited = { ...app, workflows: [{ ...first, root: { ...first.root, name: 'edited' } }, ...rest] };
    const none = { Records: [] };
    for (const file of ['scheduler', 'submissions', 'api']) {
      const handler = await start(file, api, edited);
      await assert.rejects(handler(none), new RegExp(`${first.name}@${first.version} has changed`));
    }
    await (await start('agent', agent, edited))(none);
    await aws.store.removeDocument(collections.workflow(first.name), String(first.version), 1);
    await (await start('scheduler', {}, edited))(none);
  });

  test('stops a second before its time limit, and reports the unfinished messages', async (t) => {
    const Nothing = z.object({});
    const hang = operation({
      input: Nothing,
      output: Nothing,
      run: (_, { signal }) => new Promise<never>((__, reject) => signal.addEventListener('abort', () => reject(new Error('time is over')))),
    });
    const stock = defineAgent('stock', { hang });
    const slow = defineApp({
      workflows: [defineWorkflow('slow', { version: 1, order: z.unknown() }, () => sequence(stock.hang({})))],
      agents: [stock],
    });
    const { start, eventFrom } = await openLambda(t, slow);
    await (await start('api', api))(await submission('tea'));
    const handler = await start('agent', agent);
    const event = await eventFrom('stock-requests');
    const started = Date.now();
    assert.equal(failuresIn(await handler(event, 1500)), 1);
    const took = Date.now() - started;
    assert.ok(took >= 490 && took < 1400, `${took} ms`);
  });

  test('prints its counters as one line that CloudWatch parses, and no line if it has no counters', async (t) => {
    const { aws, start, eventFrom, printed } = await openLambda(t);
    await aws.queues.send([{ queue: 'wake-ups', body: 'nonsense' }]);
    const handler = await start('scheduler', { REDRESS_ROLE: 'scheduler' });
    const event = await eventFrom('wake-ups');
    assert.equal(failuresIn(await handler(event)), 0);
    await handler({ Records: [] });
    const [line = '', ...others] = printed;
    assert.deepEqual(others, []);
    assert.match(line, /^\{.*\}\n$/);
    assert.partialDeepStrictEqual(JSON.parse(line), {
      role: 'scheduler',
      givenUp: 1,
      _aws: { CloudWatchMetrics: [{ Namespace: 'Redress', Dimensions: [['deployment', 'role']] }] },
    });
  });
});
