import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import { registerClient } from '#testing/world/register-client';
import {
  type Desk,
  type DeskOptions,
  failed,
  lineOf,
  ok,
  openDesk,
  reaches,
  sendingFails,
  started,
  stepsNamed,
  submitted,
  tea,
  timePasses,
} from './support.ts';

const line = lineOf(stepsNamed('pick', 'pack'));
const channel = 'redress-response-acme';
const modes = [
  { writesAndSendsAtomically: true, how: 'one transaction' },
  { writesAndSendsAtomically: false, how: 'write, then send' },
];

async function withListener(context: TestContext, options: DeskOptions = {}): Promise<Desk> {
  const desk = openDesk(context, line, options);
  await registerClient(desk.store, { id: 'acme', responseChannels: [channel], senders: [] });
  return desk;
}
const listened = { client: 'acme', reference: 'r-1', responseChannel: channel };
const heard = (desk: Pick<Desk, 'messages'>) =>
  desk.messages(channel).map(({ seq, status, outcome }) => `${seq} ${status}${outcome ? ` ${outcome}` : ''}`);
const resubmit = (desk: Pick<Desk, 'system' | 'clock'>, orderId: string) =>
  timePasses(
    desk.clock,
    desk.system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'olga', reason: 'mended' }, { id: `i-${desk.clock.now()}` }),
  );

const Refused = fault('Refused');
const clerk = defineAgent('worker', {
  sell: operation({ input: z.object({}), output: z.unknown(), faults: [Refused], run: () => ({}) }),
  takeBack: operation({ input: z.object({}), output: z.unknown(), run: () => ({}) }),
});
const sale = defineApp({
  workflows: [
    defineWorkflow('sale', { version: 1, order: z.object({}) }, () => {
      const sold = (name: string) =>
        clerk
          .sell({})
          .named(name)
          .undo(() => clerk.takeBack({}));
      return sequence(sold('first'), sold('second')).on(Refused, ({ compensate }) => compensate());
    }),
  ],
  agents: [clerk],
});
/** Returns the request that waits, without the cancellations before it. */
const waiting = async (desk: Desk) => (await desk.requests()).find(({ type }) => type === 'request') ?? assert.fail('nothing is requested');
const answers = async (desk: Desk) => desk.answer(await waiting(desk));
const refuses = async (desk: Desk) => desk.answer(await waiting(desk), failed('Refused'));
const end = (desk: Desk, orderId: string, kind: 'cancel' | 'terminate') =>
  desk.system.scheduler.instruct(orderId, { kind, by: 'olga', reason: 'a test' }, { id: kind });

describe('the submitter learns', () => {
  for (const { writesAndSendsAtomically, how } of modes) {
    test(`F-07: that an order is received, delayed while it waits for a person, then completed, with rising numbers (${how})`, async (context) => {
      const desk = await withListener(context, { writesAndSendsAtomically });
      const orderId = await submitted(desk, tea, listened);
      assert.deepEqual(heard(desk), ['1 received']);

      await desk.answer(await desk.request(), failed('Broken'));
      assert.deepEqual(heard(desk), ['1 received', '2 delayed']);

      await resubmit(desk, orderId);
      await desk.answer(await desk.request());
      await desk.answer(await desk.request());
      assert.deepEqual(heard(desk), ['1 received', '2 delayed', '3 completed completed']);
      for (const message of desk.messages(channel))
        assert.deepEqual(
          [message['v'], message['type'], message['orderId'], message['reference'], typeof message['at']],
          [1, 'status', orderId, 'r-1', 'string'],
        );
    });

    test(`F-07, F-61: on its response queue what the state of the order says, at every stage (${how})`, async (context) => {
      const desk = await withListener(context, { writesAndSendsAtomically, variables: { CLAIM_ON_SUBMIT: 'off' } });
      const orderId = await submitted(desk, tea, listened);
      const stages: string[] = [];
      const look = async () =>
        stages.push(`${(await desk.state(orderId)).processState}: ${String(desk.messages(channel).at(-1)?.['status'])}`);

      await look();
      await desk.deliver('wake-ups');
      await look();
      await desk.answer(await desk.request(), failed('Broken'));
      await look();
      await resubmit(desk, orderId);
      await desk.answer(await desk.request(), failed('Broken'));
      await look();
      await resubmit(desk, orderId);
      await desk.answer(await desk.request());
      await desk.answer(await desk.request());
      await look();
      assert.deepEqual(stages, ['Pending: received', 'Processing: received', 'Error: delayed', 'Error: delayed', 'Processed: completed']);
      assert.deepEqual(heard(desk), ['1 received', '2 delayed', '3 delayed', '4 completed completed']);
    });

    test(`F-07: nothing after the end, whatever is repeated (${how})`, async (context) => {
      const desk = await withListener(context, { writesAndSendsAtomically });
      const orderId = await submitted(desk, tea, listened);
      const first = await desk.request();
      await desk.answer(first);
      const last = await desk.request();
      await desk.answer(last);
      const statusMessages = heard(desk);
      assert.deepEqual(statusMessages, ['1 received', '2 completed completed']);

      await desk.answer(first);
      await desk.answer(last, failed('Broken'));
      await desk.send('wake-ups', { v: 1, type: 'wake-up', orderId, sentAt: new Date().toISOString() });
      await desk.deliver('wake-ups');
      await desk.clock.advance(3_600_000);
      await desk.supervisor.pass();
      await desk.deliver('wake-ups');
      assert.equal((await resubmit(desk, orderId)).outcome, 'infeasible');
      assert.deepEqual(heard(desk), statusMessages);
    });

    test(`F-07: nothing without a response queue (${how})`, async (context) => {
      const desk = await withListener(context, { writesAndSendsAtomically });
      await submitted(desk, tea, { client: 'acme' });
      await desk.answer(await desk.request());
      await desk.answer(await desk.request());
      assert.deepEqual(desk.messages(channel), []);
    });
  }

  for (const [outcome, play] of [
    ['rejected', (desk) => refuses(desk)],
    [
      'compensated',
      (desk) =>
        answers(desk)
          .then(() => refuses(desk))
          .then(() => answers(desk)),
    ],
    [
      'canceled',
      (desk, orderId) =>
        answers(desk)
          .then(() => end(desk, orderId, 'cancel'))
          .then(() => refuses(desk))
          .then(() => answers(desk)),
    ],
    ['terminated', (desk, orderId) => answers(desk).then(() => end(desk, orderId, 'terminate'))],
  ] satisfies readonly (readonly [string, (desk: Desk, orderId: string) => Promise<unknown>])[])
    test(`F-07: that an order which ends ${outcome} has failed, with that outcome, and nothing afterwards`, async (context) => {
      const desk = openDesk(context, sale);
      await registerClient(desk.store, { id: 'acme', responseChannels: [channel], senders: [] });
      const orderId = await submitted(desk, {}, listened);
      await play(desk, orderId);
      assert.equal((await desk.state(orderId)).outcome, outcome);
      assert.deepEqual(heard(desk), ['1 received', `2 failed ${outcome}`]);
    });

  test('F-07: that an order which is late too often is delayed, not failed', async (context) => {
    const system = await started(context, lineOf({ pick: () => new Promise(() => {}) }), {
      variables: { MAX_FAILURES: '1', STEP_COMPLETE_WITHIN_SECONDS: '5' },
    });
    await registerClient(system.store, { id: 'acme', responseChannels: [channel], senders: [] });
    const orderId = await submitted(system, tea, listened);
    await reaches(system, orderId, 'Error');
    await system.clock.advance(1_000);
    assert.deepEqual(
      system.messages(channel).map((message) => (message as { status: string }).status),
      ['received', 'delayed'],
    );
  });

  test('F-08: nothing about the host, claim or lease of the order', async (context) => {
    const desk = await withListener(context, { hostId: 'host-canary' });
    await submitted(desk, tea, listened);
    await desk.answer(await desk.request());
    await desk.answer(await desk.request());
    assert.deepEqual(
      desk
        .messages(channel)
        .flatMap((message) => Object.keys(message))
        .filter((key) => !['v', 'type', 'orderId', 'reference', 'seq', 'status', 'outcome', 'at'].includes(key)),
      [],
    );
    assert.doesNotMatch(JSON.stringify(desk.messages(channel)), /host-canary/);
  });
});

describe('a response queue that does not accept messages', () => {
  test('F-07: delays no order, and gets the missed messages when it accepts messages again', async (context) => {
    let away = true;
    const desk = await withListener(context, { writesAndSendsAtomically: false, around: sendingFails(channel, () => away) });
    const orderId = await submitted(desk, tea, listened);
    await desk.answer(await desk.request());
    await desk.answer(await desk.request(), ok());
    assert.equal((await desk.state(orderId)).processState, 'Processed');
    assert.deepEqual(heard(desk), []);

    away = false;
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    assert.deepEqual(heard(desk), ['1 received', '2 completed completed'], 'in their order');
    assert.deepEqual((await desk.state(orderId)).outbox, []);
  });

  test('F-07: never gets the end of an order before its beginning', async (context) => {
    let isLost = true;
    const desk = await withListener(context, {
      writesAndSendsAtomically: false,
      // Only the first message gets lost.
      around: ({ queues: real }) => ({
        queues: {
          ...real,
          async send(messages) {
            if (isLost && messages.some(({ body }) => body.includes('"received"'))) throw new Error('throttled');
            await real.send(messages);
          },
        },
      }),
    });
    const orderId = await submitted(desk, tea, listened);
    await desk.answer(await desk.request());
    await desk.answer(await desk.request());
    assert.deepEqual([(await desk.state(orderId)).processState, heard(desk)], ['Processed', []]);

    isLost = false;
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    assert.deepEqual(heard(desk), ['1 received', '2 completed completed']);
  });
});
