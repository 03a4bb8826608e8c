import assert from 'node:assert/strict';
import test from 'node:test';
import { queueNames } from '#ports/messages';
import type { Outgoing } from '#ports/queues';
import { lineOf, nothing, openDesk, submitted, tea } from './support.ts';

const ofTwoSteps = lineOf({ first: nothing, second: nothing });
const requests = queueNames.requests('worker');
const replies = queueNames.replies('worker');

for (const claims of ['on', 'off'])
  test(`X-46: every message for an order is in the message group of its client, with claiming on submission ${claims}`, async (context) => {
    const sent: Outgoing[] = [];
    const desk = openDesk(context, ofTwoSteps, {
      writesAndSendsAtomically: false,
      variables: { CLAIM_ON_SUBMIT: claims },
      around: ({ queues }) => ({
        queues: {
          ...queues,
          async send(messages) {
            sent.push(...messages);
            await queues.send(messages);
          },
        },
      }),
    });
    const orderId = await submitted(desk, tea, { client: 'acme' });
    await desk.deliver(queueNames.wakeUps);
    await desk.take(requests);
    await desk.clock.advance(10_001);
    await desk.supervisor.pass();
    for (let turn = 0; turn < 3; turn++) for (const queue of [queueNames.wakeUps, requests, replies]) await desk.deliver(queue);
    assert.equal((await desk.state(orderId)).outcome, 'completed');
    assert.deepEqual(new Set(sent.map(({ queue }) => queue)), new Set([requests, replies, queueNames.wakeUps]));
    assert.deepEqual(
      sent.filter(({ group }) => group !== 'acme'),
      [],
    );
  });

test('X-46: a dead letter and the error to its sender are in the message group of the same client', async (context) => {
  const desk = openDesk(context, ofTwoSteps);
  const inQueue = desk.database.prepare('SELECT grp FROM messages WHERE queue = ?');
  await submitted(desk, tea, { client: 'acme' });
  const request = await desk.request();
  await desk.queues.send([{ queue: requests, body: JSON.stringify({ ...request, completeBy: 'soon' }), group: 'acme' }]);
  await desk.deliver(requests);
  assert.deepEqual(
    inQueue.all(queueNames.deadLetters(requests)).map((row) => row['grp']),
    ['acme'],
  );
  await desk.deadLetter();
  assert.deepEqual(
    inQueue.all(replies).map((row) => row['grp']),
    ['acme'],
  );
});

test('X-46: a message that waits for a newer version stays in the message group of its client', async (context) => {
  const desk = openDesk(context, ofTwoSteps);
  await desk.queues.send([{ queue: requests, body: JSON.stringify({ v: 2, type: 'request' }), group: 'acme' }]);
  await desk.deliver(requests);
  const waiting = desk.database.prepare('SELECT grp, receiveCount FROM messages WHERE queue = ?').all(requests);
  assert.deepEqual(
    waiting.map((row) => [row['grp'], row['receiveCount']]),
    [['acme', 0]],
  );
});
