import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ZodType } from 'zod';
import { refusalCodes } from '#api/openapi';
import { problems } from '#api/problem';
import { routes } from '#api/routes';
import { wakeUpMessage } from '#ports/messages';
import { type CallOptions, goodSubmission, startApi } from './support.ts';

test('the published contract lists exactly the calls that are served', async () => {
  const { ask } = startApi();
  const { json: document } = await ask('GET', '/openapi.json');
  assert.equal(document.openapi, '3.1.1');
  const published = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual(published.toSorted(), routes.map(({ method, path }) => `${method} ${path}`).toSorted());
  const ids = Object.values(document.paths as object).flatMap((methods) =>
    Object.values(methods as object).map(({ operationId }) => operationId),
  );
  assert.equal(new Set(ids).size, ids.length);
  for (const row of routes) {
    const operation = document.paths[row.path][row.method.toLowerCase()];
    const statuses = new Set([...Object.keys(row.answers), ...refusalCodes(row).map((code) => String(problems[code].status))]);
    assert.deepEqual(new Set(Object.keys(operation.responses)), statuses, `${row.method} ${row.path}`);
    assert.equal(operation.security === undefined, row.roles !== 'anyone', `${row.method} ${row.path}`);
  }
  const submission = document.paths['/orders'].post;
  assert.deepEqual(
    submission.parameters.map(({ name, required }: { name: string; required: boolean }) => [name, required]),
    [
      ['idempotency-key', true],
      ['prefer', false],
    ],
  );
  const { schema } = submission.requestBody.content['application/json'];
  assert.deepEqual(
    [schema.required, schema.additionalProperties, Object.keys(schema.properties)],
    [['order'], false, ['workflow', 'order', 'reference', 'responseChannel']],
  );
  assert.deepEqual(schema.properties.order.anyOf[0].properties.quantity, { type: 'integer', minimum: 1, maximum: 999 });
  const list = document.paths['/orders'].get.parameters;
  assert.deepEqual(list.find(({ name }: { name: string }) => name === 'limit').schema, {
    default: 20,
    type: 'integer',
    minimum: 1,
    maximum: 100,
  });
  assert.ok(list.every(({ required }: { required: boolean }) => !required));
});

test('every answer conforms to the contract, for every role', async () => {
  const { ask, orderInError, submitOrder, deadLetter } = startApi();
  const orderId = await orderInError('k');
  await submitOrder('k2');
  const message = await deadLetter({ queue: 'wake-ups', body: wakeUpMessage(orderId, 0) });
  await ask('PUT', '/clients/acme', { as: 'admin', body: { responseChannels: ['redress-response-a'], senders: [], reason: 'a test' } });
  const optionsOf: { readonly [call: string]: CallOptions } = {
    'POST /orders': { headers: { 'idempotency-key': 'k3' }, body: goodSubmission },
    'POST /orders/{id}/instructions': { body: { kind: 'compensate', reason: 'r', dryRun: true } },
    'POST /channels/{name}/dead-letters/bulk': { body: { filter: {}, action: 'resubmit', reason: 'r', dryRun: true } },
    'DELETE /channels/{name}/dead-letters/{id}': { body: { reason: 'r', dryRun: true } },
    'POST /channels/{name}/dead-letters/{id}/resubmit': { body: { reason: 'r', dryRun: true } },
    'PUT /clients/{id}': { headers: { 'if-match': '"1"' }, body: { responseChannels: [], senders: [], reason: 'a test' } },
    'POST /channels/{name}/close': { body: { reason: 'r' } },
    'POST /channels/{name}/open': { body: {} },
  };
  let checked = 0;
  for (const { method, path, answers } of routes) {
    for (const as of ['acme', 'operator', 'admin'] as const) {
      const id = path.startsWith('/clients') ? 'acme' : path.startsWith('/channels') ? message : orderId;
      const { status, json } = await ask(method, path.replace('{id}', id).replace('{name}', 'wake-ups'), {
        as,
        ...optionsOf[`${method} ${path}`],
      });
      const schema: ZodType | undefined = answers[status]?.schema;
      if (!schema) continue;
      schema.parse(json);
      checked++;
    }
  }
  const resubmitted = await ask('POST', `/orders/${orderId}/instructions`, {
    as: 'operator',
    headers: { 'if-match': '"3"' },
    body: { kind: 'resubmit', reason: 'r' },
  });
  routes.find(({ path }) => path.endsWith('/instructions'))?.answers[202]?.schema?.parse(resubmitted.json);
  const sent = await ask('POST', `/channels/wake-ups/dead-letters/${message}/resubmit`, { as: 'operator', body: { reason: 'r' } });
  routes.find(({ path }) => path.endsWith('/resubmit'))?.answers[202]?.schema?.parse(sent.json);
  assert.ok(checked >= 25, String(checked));
});

test('a browser gets a page with a strict content security policy, even if the console is not built', async () => {
  const { ask } = startApi();
  const { status, headers, text } = await ask('GET', '/', { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  const policy = headers.get('content-security-policy') ?? '';
  for (const part of ["script-src 'self'", "style-src 'self'", "connect-src 'self'", "require-trusted-types-for 'script'"])
    assert.ok(policy.split('; ').includes(part), part);
  assert.doesNotMatch(policy, /unsafe|https?:/);
  for (const wanted of ['/openapi.json', 'npm run build']) assert.ok(text.includes(wanted), wanted);
});
