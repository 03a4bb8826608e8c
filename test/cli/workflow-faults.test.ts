import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { redress } from './support.ts';

const orders = fileURLToPath(new URL('../../examples/orders/app.ts', import.meta.url));

test('F-163: faults are shown with their step, who runs it again, who takes them, and what comes of it', async () => {
  const { exitCode, out } = await redress(['workflow', 'faults', orders]);
  assert.equal(exitCode, 0);
  const lines = out.split('\n').map((line) => line.split(/ {2,}/));
  assert.deepEqual(lines.slice(0, 7), [
    ['fulfil-order@1'],
    ['step', 'fault', 'runs again', 'taken by', 'then'],
    ['order/reserve', 'OutOfStock', 'order/on-Refused', 'undoes order, the order ends'],
    ['order/reserve', 'no answer, ServiceUnavailable', 'asked again when late', 'an operator', 'the order is held'],
    ['order/reserve', 'outcome unknown', 'an operator', 'the order is held'],
    ['order/retry/charge', 'CardDeclined', 'order/on-Refused', 'undoes order, the order ends'],
    ['order/retry/charge', 'no answer', 'asked again when late', 'an operator', 'the order is held'],
  ]);
  assert.match(out, /ServiceUnavailable +order\/retry: 3 times, every 20 s, not after CardDeclined +an operator/);
});

test('F-163: the same as data, for machines', async () => {
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

test('a module without a workflow is wrong use', async () => {
  const { exitCode, err } = await redress([
    'workflow',
    'faults',
    fileURLToPath(import.meta.url).replace('workflow-faults.test', 'support'),
  ]);
  assert.equal(exitCode, 2);
  assert.match(err, /exports no workflow and no app/);
});
