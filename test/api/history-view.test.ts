import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Caller } from '#api/authentication';
import { entryView } from '#api/history';
import { noon } from '../support/records.ts';

const viewer = { roles: new Set(['viewer']) } as unknown as Caller;
const text = new Date(noon).toISOString();

test('F-151: the history shows the times of object uses as text, also in the lines about undone writes', () => {
  const use = { path: 'order/take', object: 'lot/1', at: noon };
  const found = { type: 'InconsistencyFound' as const, id: 'u', cause: { orderId: 'ord_a', path: 'order/book' }, seq: 2, at: noon };
  const views = [
    { type: 'ObjectsUsed' as const, path: 'order/take', requestedAt: noon, reads: ['lot/1'], seq: 1, at: noon },
    { ...found, undone: [use] },
    { ...found, maskedBy: 'order', masked: { uses: [use] } },
  ].map((entry) => entryView('ord_b', entry, viewer));
  const shown = { ...use, at: text };
  assert.partialDeepStrictEqual(views, [{ requestedAt: text, at: text }, { undone: [shown] }, { masked: { uses: [shown] } }]);
});
