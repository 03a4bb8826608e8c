import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from 'redress';
import { requestIdFrom } from '#core/data/ids';
import { journalOf, lineOf, openDesk, stepsNamed, submitted } from './support.ts';

test('F-168: the log contains the journal once, in order, with the request ids that were sent', async (context) => {
  const desk = openDesk(context, lineOf(stepsNamed('pick', 'pack')));
  const orderId = await submitted(desk);
  const sent: string[] = [];
  for (const _ of ['pick', 'pack']) {
    const request = await desk.request();
    sent.push(request.requestId);
    await desk.answer(request);
  }
  const journal = await journalOf(desk, orderId);
  const lines = desk.log.map((line) => JSON.parse(line) as JsonObject).filter((line) => line['seq'] !== undefined);
  assert.deepEqual(
    lines.map((line) => [line['level'], line['orderId'], line['seq'], line['message'], line['requestId']]),
    journal.map((entry) => {
      const requestId = 'attemptId' in entry && entry.attemptId ? requestIdFrom(orderId, entry.path, entry.attemptId) : undefined;
      return ['info', orderId, entry.seq, entry.type, requestId];
    }),
  );
  const requested = lines.filter((line) => line['message'] === 'StepRequested');
  assert.deepEqual(
    requested.map((line) => line['requestId']),
    sent,
  );
});
