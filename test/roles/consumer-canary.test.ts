import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineConsumer, messageType } from 'redress';
import * as z from 'zod';
import { openDatabase } from '#adapters/sqlite/database';
import { sqliteStore } from '#adapters/sqlite/store';
import { type ClientOrders, consumerDefinitionOf } from '#authoring/consumer';
import { manualClock } from '#ports/clock';
import { createTelemetry } from '#ports/telemetry';
import { closeChannel, openChannel } from '#roles/channels/operate';
import { createConsumer } from '#roles/message-consumer/consumer';

const queue = 'expenses-messages';

describe('a consumer whose channel is opened with a canary', () => {
  test('F-108, F-174: handles one message first, also in a process that still handled an earlier message after the channel was closed', async () => {
    const store = sqliteStore(openDatabase(':memory:'), () => []);
    const clock = manualClock();
    const handled: number[] = [];
    const handle = async ({ takesMs }: { readonly takesMs: number }) => {
      await clock.sleep(takesMs);
      handled.push(takesMs);
    };
    const consumer = defineConsumer('expenses', { report: messageType({ body: z.object({ takesMs: z.int() }), handle }) });
    const consume = createConsumer(consumerDefinitionOf(consumer), {
      store,
      clock,
      telemetry: createTelemetry({ level: 'off', write: () => undefined }),
      credentials: { read: async () => undefined },
      ordersFor: () => ({}) as ClientOrders,
    });
    let messages = 0;
    const consumed = (takesMs: number): Promise<void> => {
      const messageId = `m-${++messages}`;
      const body = JSON.stringify({ v: 1, type: 'report', conversation: messageId, body: { takesMs } });
      const delivery = { queue, messageId, body, receiveCount: 1, sentAt: clock.now(), senderId: 'local', receipt: messageId };
      return consume(delivery, new AbortController().signal);
    };
    const change = () => ({ by: 'olga', reason: 'mended?', now: clock.now() });

    consume.arrived();
    const slow = consumed(9_000);
    await clock.advance(1_000);
    await closeChannel('expenses', queue, change(), store);
    await openChannel('expenses', { ...change(), canary: true }, store);
    await clock.advance(11_000);
    await slow;
    consume.arrived();
    const all = Promise.allSettled([consumed(1), consumed(2)]);
    await clock.advance(1_000);
    const results = await all;
    assert.deepEqual(
      results.map((each) => (each.status === 'rejected' ? each.reason.message : 'handled')),
      ['handled', 'The consumer "expenses" puts this message off: another message is tried first, and this one comes again.'],
    );
    assert.deepEqual(handled, [9_000, 1]);
  });
});
