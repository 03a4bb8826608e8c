import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { defineApp } from 'redress';
import { manualClock } from '#ports/clock';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { Page } from '#ports/store';
import { readableInstance } from '#roles/scheduler/instance';
import { alone } from '../support/records.ts';
import { mixed, worker } from './lost-orders.ts';
import { openDesk } from './support.ts';

/** Orders of the program at commit dc84834a, which kept no events: in the middle of random lives, as its store had them. */
interface OldOrder {
  /** Words of the reason why its facts do not tell its state; null if they do. */
  readonly refusal: string | null;
  readonly order: OrderRecord;
  readonly record: StateRecord;
  readonly pages: readonly Page[];
}
const old = readFileSync(new URL('old-journals.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): OldOrder => JSON.parse(line));
const app = defineApp({ workflows: [mixed], agents: [worker] });

/** Returns the state of an order after the next message, with or without the loss of what is behind its journal. */
async function woken(context: TestContext, { order, record, pages }: OldOrder, isLost: boolean): Promise<StateRecord> {
  const desk = openDesk(context, app, { clock: manualClock(record.updatedAt) });
  const { orderId } = order;
  const blob = isLost ? record.blob.replace(/"state":.*/, '"state":{"ph') : record.blob;
  await desk.store.create(order, { ...record, blob }, alone);
  for (const [index, page] of pages.entries()) await desk.store.putPage(orderId, index + 1, page);
  await desk.send('wake-ups', { v: 1, type: 'wake-up', orderId, sentAt: new Date(record.updatedAt).toISOString() });
  await desk.deliver('wake-ups');
  return desk.state(orderId);
}

describe('an order of an earlier program, whose journal has facts alone', () => {
  for (const [index, each] of old.entries())
    test(`F-160: ${each.refusal ? `waits for a person, because of "${each.refusal}"` : 'is rebuilt from the facts'} (${index + 1})`, async (context) => {
      const [twin, other] = [await woken(context, each, false), await woken(context, each, true)];
      if (each.refusal === null) {
        assert.deepEqual(readableInstance(other)?.state, readableInstance(twin)?.state);
        assert.equal(other.processState, twin.processState);
        return;
      }
      assert.deepEqual([other.processState, other.fault?.type], ['Error', 'RecordUnreadable']);
      assert.ok(other.fault?.message.includes(each.refusal), other.fault?.message);
    });
});
