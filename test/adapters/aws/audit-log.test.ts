import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { openAws } from '#adapters/aws/open';
import { systemClock } from '#ports/clock';

interface Received {
  readonly call: string;
  // biome-ignore lint/suspicious/noExplicitAny: the test looks into requests of two shapes
  readonly body: any;
}

const received: Received[] = [];
/** The answers to the next calls: a status and a type of error. */
const refusals: (readonly [status: number, type: string])[] = [];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  received.push({ call: String(request.headers['x-amz-target']).split('.')[1] ?? '', body: JSON.parse(body) });
  const [status, type] = refusals.shift() ?? [200, ''];
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(type === '' ? {} : { __type: type }));
});

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const noon = Date.UTC(2026, 0, 31, 12);
const nowhere = 'http://127.0.0.1:9';

/** Returns the log of a new process. */
function newLog() {
  received.length = 0;
  const logs = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = { region: 'eu-central-1', table: 'table', queuePrefix: '', bus: 'bus', auditLogGroup: 'orders-audit' };
  const endpoints = { dynamodb: nowhere, sqs: nowhere, eventbridge: nowhere, logs };
  const { auditLog } = openAws(config, { clock: systemClock, endpoints });
  return (text: string): Promise<void> => auditLog?.append({ text }, noon) ?? assert.fail('there is no log');
}

const calls = () => received.map(({ call }) => call);

test('A5: each line of the audit is an event in the log group of the audit, in one stream for this process', async () => {
  const append = newLog();
  await Promise.all([append('a'), append('b')]);
  await append('c');
  assert.deepEqual(calls().toSorted(), ['CreateLogStream', 'PutLogEvents', 'PutLogEvents', 'PutLogEvents']);
  const [created, ...puts] = received;
  const { logGroupName, logStreamName } = created?.body ?? {};
  assert.equal(logGroupName, 'orders-audit');
  assert.match(logStreamName, /^2026\/01\/31\/[0-9a-f-]{36}$/);
  assert.deepEqual(
    puts.map(({ body }) => body).toSorted((one, other) => (one.logEvents[0].message < other.logEvents[0].message ? -1 : 1)),
    ['a', 'b', 'c'].map((text) => ({ logGroupName, logStreamName, logEvents: [{ timestamp: noon, message: JSON.stringify({ text }) }] })),
  );
});

test('A5: an existing stream is used, and the creation of a stream that failed is repeated with the next line', async () => {
  refusals.push([400, 'ResourceAlreadyExistsException']);
  await newLog()('a');
  assert.deepEqual(calls(), ['CreateLogStream', 'PutLogEvents']);

  const append = newLog();
  refusals.push([400, 'AccessDeniedException']);
  await assert.rejects(append('b'), { name: 'AccessDeniedException' });
  await append('c');
  assert.deepEqual(calls(), ['CreateLogStream', 'CreateLogStream', 'PutLogEvents']);
});
