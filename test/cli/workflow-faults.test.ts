import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { redress } from './support.ts';

const orders = fileURLToPath(new URL('../../examples/orders/app.ts', import.meta.url));

test('F-163: faults are listed with their step, its retry, their handler and their outcome', async () => {
  const { exitCode, out } = await redress(['workflow', 'faults', orders]);
  assert.equal(exitCode, 0);
  const lines = out.split('\n').map((line) => line.split(/ {2,}/));
  assert.deepEqual(lines.slice(0, 7), [
    ['fulfil-order@1'],
    ['step', 'fault', 'retries', 'handled by', 'then'],
    ['order/reserve', 'OutOfStock', 'order/on-Refused', 'undoes order, the order ends'],
    [
      'order/reserve',
      'DeadlineExceeded (no answer), ServiceUnavailable',
      'requested again when late',
      'an operator',
      'the order is blocked',
    ],
    ['order/reserve', 'InvalidReply, ProgrammingError', 'an operator', 'the order is blocked'],
    ['order/retry/charge', 'CardDeclined', 'order/on-Refused', 'undoes order, the order ends'],
    ['order/retry/charge', 'DeadlineExceeded (no answer)', 'requested again when late', 'an operator', 'the order is blocked'],
  ]);
  assert.match(out, /ServiceUnavailable +order\/retry: 3 times, every 20 s, not after CardDeclined +an operator/);
});

test('F-163: each fault has the name under which workflows import it and the reference lists it', async () => {
  const travel = fileURLToPath(new URL('../../examples/travel/app.ts', import.meta.url));
  const { out } = await redress(['workflow', 'faults', travel]);
  assert.match(out, /^order\/nights +ComputeFailed +an operator/m);
  assert.match(out, /^order\/choice\/visa-check\/decision\/visa +NoSignal +order\/.*on-NoSignal/m);
  const reference = readFileSync(new URL('../../docs/reference/faults.md', import.meta.url), 'utf8');
  const engine = [...out.matchAll(/[A-Z]\w+(?= \(no answer\)|, | {2,}(?:requested|an operator))/g)].map(([name]) => name);
  for (const name of engine) assert.ok(reference.includes(`Engine/${name}\``), name);
  assert.ok(engine.includes('DeadlineExceeded'));
});

test('F-163: with --json, the same list of faults is printed as JSON', async () => {
  const { json } = await redress(['workflow', 'faults', orders, '--json']);
  const [{ name, version, faults }] = json.workflows;
  assert.deepEqual([name, version], ['fulfil-order', 1]);
  assert.deepEqual(
    faults.find(({ fault }: { fault: string }) => fault === 'AddressInvalid'),
    {
      path: 'order/parallel/ship',
      fault: 'AddressInvalid',
      origin: 'declared',
      retries: [],
      askedAgain: false,
      end: { kind: 'operator', foreseen: true },
    },
  );
});

test('F-163: a fault that a called workflow passes to its caller is shown as passed to the caller', async () => {
  const calling = fileURLToPath(new URL('../../examples/activities/call.ts', import.meta.url));
  const { out } = await redress(['workflow', 'faults', calling]);
  assert.match(out, /^order\/.* +the caller, else an operator +an order with a caller is undone, one without is blocked$/m);
});

test('a module without a workflow is a usage error', async () => {
  const { exitCode, err } = await redress([
    'workflow',
    'faults',
    fileURLToPath(import.meta.url).replace('workflow-faults.test', 'support'),
  ]);
  assert.equal(exitCode, 2);
  assert.match(err, /exports no workflow and no app/);
});
