import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseWorkflowRef, workflowRef } from '#core/definition/workflow-ref';
import { isFatal, StoreUnavailableError, UnreadableRecordError } from '#ports/errors';
import { alertEntryOf, alertOf } from '#ports/util/alert';
import { backoffMs } from '#ports/util/backoff';
import { compareAndSet } from '#ports/util/compare-and-set';
import { jsonIn, recordIn } from '#ports/util/json';

test('alerts take their fields from one common set, and omit those that do not apply', () => {
  const alert = { id: 'a', at: 0, type: 'Backlogged', before: 'running', after: 'running', message: 'It is behind.' };
  assert.deepEqual(alertOf('Service Exception', { ...alert, orderId: undefined, source: '', data: undefined }), {
    id: 'a',
    detailType: 'Service Exception',
    detail: {
      id: 'a',
      at: '1970-01-01T00:00:00.000Z',
      class: 'basic-failure',
      type: 'Backlogged',
      before: 'running',
      after: 'running',
      failureCount: 0,
      message: 'It is behind.',
    },
  });
  const { kind, detailType, detail } = alertEntryOf('Order In Error', { ...alert, orderId: 'o', source: 'order/pay', data: [1] }) as {
    readonly [field: string]: unknown;
  };
  assert.deepEqual(
    [kind, detailType, Object.keys(detail as object).join()],
    ['announcement', 'Order In Error', 'id,orderId,at,class,type,source,before,after,failureCount,message,data'],
  );
});

test('a pause doubles up to its limit, and jitter spreads it over the given share', () => {
  const pauses = [0, 1, 2, 3, 2000].map((doublings) => backoffMs({ first: 100, longest: 500 }, doublings));
  assert.deepEqual(pauses, [100, 200, 400, 500, 500]);
  const spread = [0, 0.5, 1].map((random) => backoffMs({ first: 100, jitter: [0.75, 1.25] }, 1, random));
  assert.deepEqual(spread, [150, 200, 250]);
});

test('a conditional write is repeated until it succeeds, or until it has lost as many races as its limit allows', async () => {
  let tries = 0;
  const winsAt = (race: number) => async () => (++tries === race ? 'won' : 'lost');
  assert.deepEqual([await compareAndSet(winsAt(3)), tries], ['won', 3]);
  tries = 0;
  assert.deepEqual([await compareAndSet(winsAt(3), 2), tries], ['lost', 2]);
});

test('a text that is not JSON gives no value, and a stored record with such a text is unreadable', () => {
  assert.deepEqual(['{"a":[null]}', '\ufeff1', '', '{'].map(jsonIn), [{ a: [null] }, undefined, undefined, undefined]);
  assert.deepEqual(recordIn('o', 'null'), null);
  assert.throws(() => recordIn('o', '{'), UnreadableRecordError);
});

test('a reference to a version of a workflow can be formatted and parsed', () => {
  assert.deepEqual(parseWorkflowRef(workflowRef({ name: 'ship-one', version: 12 })), { name: 'ship-one', version: 12 });
  assert.deepEqual(parseWorkflowRef('undo'), { name: 'undo', version: Number.NaN });
});

test('only an error of a store that will not recover is fatal', () => {
  const errors = [
    new StoreUnavailableError('gone', { fatal: true }),
    new StoreUnavailableError('busy', { fatal: false }),
    new Error(),
    'gone',
  ];
  assert.deepEqual(errors.map(isFatal), [true, false, false, false]);
});
