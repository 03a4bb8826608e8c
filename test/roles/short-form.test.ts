import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ActivityState } from '#core/data/state';
import { decodeInstance, encodeInstance, newInstance } from '#roles/scheduler/instance';
import { shortened } from '#roles/scheduler/short-form';
import { stateRecord } from '../support/records.ts';

const at = 1_767_225_600_000;
const requested = { generation: 1, attempt: 2, epoch: 3, since: at, phase: 'requested', completeBy: at + 60_000 };

describe('the stored form of running steps', () => {
  test('F-159: every activity is read back unchanged', () => {
    const number = fc.oneof(fc.nat(), fc.constant(at), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant('1'));
    const own = fc.record(
      {
        generation: number,
        attempt: number,
        epoch: number,
        since: number,
        completeBy: number,
        phase: fc.constantFrom('requested', 'unknown'),
        mode: fc.constantFrom('cancel', 'undo'),
        late: fc.nat(),
      },
      { requiredKeys: ['generation', 'attempt', 'epoch', 'since', 'phase'] },
    );
    const activity = fc.record(
      { status: fc.constantFrom('Executing', 'Canceling', 'Faulting'), local: own, late: fc.nat() },
      { requiredKeys: ['status'] },
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('order', 'order/a', 'order/b'), activity), (given) => {
        const activities = JSON.parse(JSON.stringify(given)) as { [path: string]: ActivityState };
        const blob = encodeInstance({ ...newInstance, state: { ...newInstance.state, activities } });
        assert.deepEqual(decodeInstance(stateRecord('o1', { blob })).state.activities, activities);
      }),
    );
  });

  test('a requested or canceling step is a list of numbers, and every other activity is stored as it is', () => {
    const activities = {
      'order/a': { status: 'Executing', local: requested },
      'order/b': { status: 'Canceling', local: { ...requested, mode: 'cancel' } },
      'order/c': { status: 'Executing', local: { ...requested, phase: 'failedForNow' } },
    } as const;
    assert.deepEqual(shortened(activities), {
      'order/a': [1, 2, 3, at, 60_000],
      'order/b': [1, 2, 3, at, 60_000, 'cancel'],
      'order/c': activities['order/c'],
    });
  });
});
