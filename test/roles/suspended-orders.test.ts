import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { call, defineAgent, defineApp, defineWorkflow, delay, operation, parallel, retry, sequence, waitFor } from 'redress';
import * as z from 'zod';
import { queueNames } from '#ports/messages';
import type { Instruction } from '#roles/operator/instruction';
import { nextDeadline } from '#roles/scheduler/deadlines';
import { decodeInstance } from '#roles/scheduler/instance';
import { registerClient } from '#testing/world/register-client';
import {
  type Desk,
  type DeskOptions,
  failed,
  heartbeatFor,
  journalOf,
  type LineOptions,
  lineOf,
  ok,
  openDesk,
  sendingFails,
  stepsNamed,
  submitted,
  timePasses,
} from './support.ts';

const hourMs = 3_600_000;
let ids = 0;
const instruct = (desk: Desk, orderId: string, kind: Instruction['kind'], options: { dryRun?: boolean } = {}) =>
  timePasses(
    desk.clock,
    desk.system.scheduler.instruct(orderId, { kind, by: 'olga', reason: 'the stock is counted' } as Instruction, {
      id: `i-${++ids}`,
      ...options,
    }),
  );
async function done(desk: Desk, orderId: string, kind: Instruction['kind']): Promise<void> {
  const answer = await instruct(desk, orderId, kind);
  assert.equal(answer.outcome, 'done', JSON.stringify(answer));
}

/** A suspended order with three steps; the first was requested four seconds ago. */
async function suspended(context: TestContext, { line = {}, desk: options = {} }: { line?: LineOptions; desk?: DeskOptions } = {}) {
  const desk = openDesk(context, lineOf(stepsNamed('one', 'two', 'three'), line), options);
  const orderId = await submitted(desk);
  const request = await desk.request();
  await desk.clock.advance(4_000);
  await done(desk, orderId, 'suspend');
  return { desk, orderId, request };
}

const typesIn = async (desk: Desk, orderId: string) => (await journalOf(desk, orderId)).map(({ type }) => type);
const requested = async (desk: Desk) => (await desk.requests()).map(({ path, attempt }) => `${path} ${attempt}`);

describe('while an order is suspended', () => {
  test('F-60: a reply is recorded, nothing new is requested, and the order continues with that reply when it is resumed', async (context) => {
    const { desk, orderId, request } = await suspended(context);
    await desk.answer(request);
    assert.deepEqual(await requested(desk), []);
    const { processState, suspended: isSuspended, lockedBy } = await desk.state(orderId);
    assert.deepEqual([processState, isSuspended, lockedBy], ['Processing', true, 'host-one']);
    await desk.clock.advance(hourMs);
    await done(desk, orderId, 'resume');
    assert.deepEqual(await requested(desk), ['order/two 1']);
    assert.equal((await desk.state(orderId)).suspended, false);
    assert.deepEqual((await typesIn(desk, orderId)).slice(-5), [
      'InstructionGiven',
      'ReplyRecorded',
      'InstructionGiven',
      'ActivityClosed',
      'StepRequested',
    ]);
  });

  test('F-60: a reply counts even if it was sent after the original deadline of its step', async (context) => {
    const { desk, orderId, request } = await suspended(context);
    await desk.clock.advance(hourMs);
    await desk.answer(request);
    await done(desk, orderId, 'resume');
    assert.deepEqual(await requested(desk), ['order/two 1']);
  });

  test('F-60: a reply that was already too late before the suspension does not count', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('one', 'two')));
    const orderId = await submitted(desk);
    const request = await desk.request();
    await desk.clock.advance(11_000);
    await done(desk, orderId, 'suspend');
    await desk.answer(request);
    assert.ok(!(await typesIn(desk, orderId)).includes('ReplyRecorded'));
  });

  test('F-60: the journal names who suspended and resumed it, and why', async (context) => {
    const { desk, orderId } = await suspended(context);
    await done(desk, orderId, 'resume');
    const given = (await journalOf(desk, orderId)).filter((fact) => fact.type === 'InstructionGiven');
    assert.deepEqual(
      given.map(({ kind, by, reason }) => [kind, by, reason]),
      [
        ['suspend', 'olga', 'the stock is counted'],
        ['resume', 'olga', 'the stock is counted'],
      ],
    );
  });

  test('F-15: the supervisor skips the order: no failure counts and no wake-up is sent, however long the suspension lasts', async (context) => {
    const { desk, orderId } = await suspended(context);
    const before = await desk.state(orderId);
    for (let hours = 0; hours < 3; hours++) {
      await desk.clock.advance(hourMs);
      for (const counts of [await desk.supervisor.pass(), await desk.supervisor.sweep()])
        assert.deepEqual([counts.counted, counts.woken, counts.lost], [0, 0, 0]);
    }
    assert.deepEqual(await desk.state(orderId), before);
    assert.deepEqual([before.nextDueAt, before.worklist, before.completeBy, before.remainingMs], [null, null, null, 6_000]);
  });

  test('F-34: the status messages of the order are still sent', async (context) => {
    let isAway = true;
    const { desk, orderId } = await suspended(context, {
      desk: { writesAndSendsAtomically: false, around: sendingFails('redress-response-shop', () => isAway) },
    });
    await registerClient(desk.store, { id: 'shop', responseChannels: ['redress-response-shop'], senders: [] });
    assert.ok(orderId);
    const submittedWithQueue = await submitted(desk, { item: 'tea' }, { client: 'shop', responseChannel: 'redress-response-shop' });
    await done(desk, submittedWithQueue, 'suspend');
    assert.equal((await desk.state(submittedWithQueue)).outbox.length, 1);
    isAway = false;
    await desk.clock.advance(60_000);
    assert.equal((await desk.supervisor.pass()).woken, 1);
    await desk.deliver(queueNames.wakeUps);
    assert.equal(desk.messages('redress-response-shop').length, 1);
    const { outbox, suspended: isSuspended, worklist, nextDueFor } = await desk.state(submittedWithQueue);
    assert.deepEqual([outbox, isSuspended, worklist, nextDueFor?.kind], [[], true, null, 'suspended']);
  });

  test('F-60, F-125: a quarantined order still gets its reminders, although the time of a rule has passed', async (context) => {
    const { desk, orderId } = await suspended(context);
    const found = await desk.store.load(orderId);
    assert.ok(found);
    const program = desk.system.definitions.programOf(found.state);
    assert.ok(program);
    const { state } = decodeInstance(found.state);
    const inError = { ...found.state, processState: 'Error', outbox: [] } as const;
    const next = nextDeadline({ program, state, rulesAt: desk.clock.now() - 1 }, inError, desk.clock.now());
    assert.deepEqual(next?.for, { kind: 'reminder' });
  });

  test('F-60: an agent may extend the deadline of a request by a heartbeat', async (context) => {
    const { desk, orderId, request } = await suspended(context, { line: { operation: { longestSeconds: 60 } } });
    await desk.send(queueNames.replies('worker'), heartbeatFor(request, desk.clock.now() + 20_000, desk.clock.now()));
    await desk.deliver(queueNames.replies('worker'));
    assert.equal((await desk.state(orderId)).remainingMs, 20_000);
  });

  test('F-60: a signal is stored, and consumed when the order is resumed', async (context) => {
    const approval = waitFor('approved', z.object({}));
    const flow = defineWorkflow('wait', { version: 1, order: z.object({}) }, () => sequence(approval));
    const desk = openDesk(context, defineApp({ workflows: [flow], agents: [] }));
    const orderId = await submitted(desk, {});
    await done(desk, orderId, 'suspend');
    const signaled = await desk.system.scheduler.instruct(orderId, { kind: 'signal', name: 'approved', payload: {} }, { id: 's-1' });
    assert.equal(signaled.outcome, 'done');
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    await done(desk, orderId, 'resume');
    assert.equal((await desk.state(orderId)).outcome, 'completed');
  });

  test('F-60: a called order continues, and its end is recorded', async (context) => {
    const worker = defineAgent('worker', { work: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }) });
    const inner = defineWorkflow('inner', { version: 1, order: z.object({}) }, () => sequence(worker.work({})));
    const outer = defineWorkflow('outer', { version: 1, order: z.object({}) }, () =>
      sequence(call(inner, {}), worker.work({}).named('after')),
    );
    const desk = openDesk(context, defineApp({ workflows: [outer, inner], agents: [worker] }));
    const orderId = await submitted(desk, {});
    await done(desk, orderId, 'suspend');
    await desk.deliver(queueNames.calls);
    await desk.answer(await desk.request());
    await desk.deliver(queueNames.callReplies);
    assert.deepEqual(await requested(desk), []);
    assert.ok((await typesIn(desk, orderId)).includes('ReplyRecorded'));
    await done(desk, orderId, 'resume');
    assert.deepEqual(await requested(desk), ['order/after 1']);
  });
});

describe('an order that is resumed', () => {
  const Nothing = z.object({});
  const worker = defineAgent('worker', { work: operation({ input: Nothing, output: Nothing, run: () => ({}) }) });

  test('F-13: has the remaining time of its step, no less and no more', async (context) => {
    const { desk, orderId } = await suspended(context);
    await desk.clock.advance(hourMs);
    await done(desk, orderId, 'resume');
    const { completeBy, remainingMs, worklist } = await desk.state(orderId);
    const extended = (await journalOf(desk, orderId)).find((fact) => fact.type === 'StepExtended');
    assert.equal(extended?.completeBy, completeBy, 'and the history says so');
    assert.deepEqual([completeBy, remainingMs, worklist], [desk.clock.now() + 6_000, null, 'due']);
    await desk.clock.advance(5_999);
    assert.equal((await desk.supervisor.pass()).counted, 0);
    await desk.clock.advance(2_002);
    assert.equal((await desk.supervisor.pass()).counted, 1);
    await desk.deliver(queueNames.wakeUps);
    assert.deepEqual(await requested(desk), ['order/one 2']);
  });

  test('F-13: is late by the same time as before, if its lateness had not been counted', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('one')));
    const orderId = await submitted(desk);
    await desk.requests();
    await desk.clock.advance(13_000);
    await done(desk, orderId, 'suspend');
    assert.equal((await desk.state(orderId)).remainingMs, 0);
    await desk.clock.advance(hourMs);
    await done(desk, orderId, 'resume');
    assert.deepEqual(await requested(desk), [], 'the supervisor counts first');
    assert.equal((await desk.state(orderId)).nextDueAt, desk.clock.now() - 3_000);
    assert.equal((await desk.supervisor.pass()).counted, 1);
    assert.equal((await desk.state(orderId)).failureCount, 1);
  });

  test('F-13: has its step requested again for an expiry that was counted before, and that does not count twice', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('one')));
    const orderId = await submitted(desk);
    await desk.requests();
    await desk.clock.advance(13_000);
    assert.equal((await desk.supervisor.pass()).counted, 1);
    await done(desk, orderId, 'suspend');
    await desk.deliver(queueNames.wakeUps);
    assert.deepEqual(await requested(desk), []);
    await desk.clock.advance(hourMs);
    await done(desk, orderId, 'resume');
    assert.equal((await desk.supervisor.pass()).counted, 0);
    assert.deepEqual(await requested(desk), ['order/one 2']);
    assert.equal((await desk.state(orderId)).failureCount, 1);
  });

  test('F-13: continues the rest of a long wait of its step', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('one'), { onExhausted: 'wait', maxFailures: 0 }));
    const orderId = await submitted(desk);
    await desk.requests();
    await desk.clock.advance(13_000);
    assert.equal((await desk.supervisor.pass()).counted, 1);
    await desk.clock.advance(hourMs / 2);
    await done(desk, orderId, 'suspend');
    await desk.clock.advance(hourMs);
    await done(desk, orderId, 'resume');
    assert.deepEqual(await requested(desk), []);
    await desk.clock.advance(hourMs / 2 + 1);
    await desk.supervisor.pass();
    await desk.deliver(queueNames.wakeUps);
    assert.deepEqual(await requested(desk), ['order/one 2']);
  });

  test('F-13: is compensated only after it is resumed, if its workflow undoes orders above the threshold', async (context) => {
    const flow = defineWorkflow('undone', { version: 1, order: Nothing, maxFailures: 0, onExhausted: 'undo' }, () =>
      sequence(worker.work({})),
    );
    const desk = openDesk(context, defineApp({ workflows: [flow], agents: [worker] }));
    const orderId = await submitted(desk, {});
    await desk.clock.advance(13_000);
    assert.equal((await desk.supervisor.pass()).counted, 1);
    await done(desk, orderId, 'suspend');
    await desk.deliver(queueNames.wakeUps);
    assert.deepEqual([(await desk.state(orderId)).outcome, (await desk.state(orderId)).failureCount], [null, 1]);
    await done(desk, orderId, 'resume');
    assert.equal((await desk.state(orderId)).outcome, 'compensated');
  });

  test('F-13: has the remaining time of the whole order', async (context) => {
    const { desk, orderId } = await suspended(context, { line: { completeWithinSeconds: 20 } });
    await desk.clock.advance(hourMs);
    await done(desk, orderId, 'resume');
    await desk.clock.advance(8_500);
    await desk.supervisor.pass();
    await desk.deliver(queueNames.wakeUps);
    const [again] = await desk.requests();
    assert.equal(Date.parse(again?.completeBy ?? '') - desk.clock.now(), 7_500, 'four seconds were used before, eight and a half since');
  });

  const waits = {
    delay: () => sequence(delay({ seconds: 10 }), worker.work({})),
    'wait for a signal': () => sequence(waitFor('late', Nothing, { withinSeconds: 10 })),
    'pause of a retry': () => retry(worker.work({}), { retries: 1, intervalSeconds: 10, evenPermanent: true }),
  };
  for (const [what, build] of Object.entries(waits)) {
    test(`F-30: has the rest of a ${what}`, async (context) => {
      const flow = defineWorkflow('wait', { version: 1, order: Nothing }, build as never);
      const desk = openDesk(context, defineApp({ workflows: [flow], agents: [worker] }));
      const orderId = await submitted(desk, {});
      for (const request of await desk.requests()) await desk.answer(request, failed('Broken'));
      await desk.clock.advance(4_000);
      await done(desk, orderId, 'suspend');
      await desk.clock.advance(hourMs);
      await desk.deliver(queueNames.wakeUps);
      await done(desk, orderId, 'resume');
      assert.equal((await desk.state(orderId)).nextDueAt, desk.clock.now() + 6_000);
      const before = await desk.state(orderId);
      await desk.clock.advance(5_999);
      await desk.supervisor.pass();
      await desk.deliver(queueNames.wakeUps);
      assert.deepEqual(await desk.state(orderId), before);
      await desk.clock.advance(2);
      await desk.supervisor.pass();
      await desk.deliver(queueNames.wakeUps);
      assert.notDeepEqual(await desk.state(orderId), before);
    });
  }

  test('F-60: goes into Error for a refusal that arrived meanwhile; another reply is kept', async (context) => {
    const both = defineWorkflow('both', { version: 1, order: Nothing }, () =>
      parallel(worker.work({}).named('a'), worker.work({}).named('b')),
    );
    const desk = openDesk(context, defineApp({ workflows: [both], agents: [worker] }));
    const orderId = await submitted(desk, {});
    await done(desk, orderId, 'suspend');
    for (const request of await desk.requests()) await desk.answer(request, failed('Broken'));
    assert.deepEqual([(await desk.state(orderId)).processState, desk.announced().length], ['Processing', 0]);
    await done(desk, orderId, 'resume');
    const { processState, suspended: isSuspended, fault, worklist } = await desk.state(orderId);
    assert.deepEqual([processState, isSuspended, fault?.source, worklist], ['Error', false, 'order/a', 'error']);
  });
});

describe('an unclaimed order that is suspended', () => {
  test('F-11: is not claimed until it is resumed, and then it is claimed at once', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('one')), { variables: { CLAIM_ON_SUBMIT: 'off' } });
    const orderId = await submitted(desk);
    await done(desk, orderId, 'suspend');
    await desk.deliver(queueNames.wakeUps);
    await desk.clock.advance(hourMs);
    assert.equal((await desk.supervisor.pass()).woken, 0);
    const { processState, lockedBy, epoch } = await desk.state(orderId);
    assert.deepEqual([processState, lockedBy, epoch], ['Pending', null, 0]);
    await done(desk, orderId, 'resume');
    assert.deepEqual(await requested(desk), ['order/one 1']);
    assert.equal((await desk.state(orderId)).processState, 'Processing');
  });

  test('F-23: after a reset is claimed under the next epoch when it is resumed, and its step requested under the same key', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('one', 'two'), { recover: 'order' }));
    const orderId = await submitted(desk);
    const [first] = await desk.requests();
    await desk.clock.advance(13_000);
    assert.equal((await desk.supervisor.pass()).counted, 1);
    await done(desk, orderId, 'suspend');
    await desk.deliver(queueNames.wakeUps);
    assert.deepEqual([(await desk.state(orderId)).processState, await requested(desk)], ['Pending', []]);
    await done(desk, orderId, 'resume');
    const again = await desk.request();
    assert.equal(again.idempotencyKey, first?.idempotencyKey);
    assert.equal(again.epoch, (first?.epoch ?? 0) + 2);
    await desk.answer(again);
    assert.deepEqual(await requested(desk), ['order/two 1']);
  });
});

describe('other instructions for a suspended order', () => {
  test('F-60: the order can be terminated', async (context) => {
    const { desk, orderId } = await suspended(context);
    await done(desk, orderId, 'terminate');
    const { processState, outcome, suspended: isSuspended, remainingMs } = await desk.state(orderId);
    assert.deepEqual([processState, outcome, isSuspended, remainingMs], ['Processed', 'terminated', false, null]);
  });

  test('F-60: the order can be canceled: that ends the suspension, and recorded replies count as done', async (context) => {
    const Nothing = z.object({});
    const stock = defineAgent('worker', {
      take: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
      back: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
    });
    const flow = defineWorkflow('take', { version: 1, order: Nothing }, () => sequence(stock.take({}).undo(() => stock.back({}))));
    const desk = openDesk(context, defineApp({ workflows: [flow], agents: [stock] }));
    const orderId = await submitted(desk, {});
    await done(desk, orderId, 'suspend');
    await desk.answer(await desk.request());
    await done(desk, orderId, 'cancel');
    const undo = await desk.request();
    assert.deepEqual([undo.operation, (await desk.state(orderId)).suspended], ['back', false]);
    await desk.answer(undo, ok());
    assert.equal((await desk.state(orderId)).outcome, 'canceled');
  });

  const refused: readonly [string, Instruction['kind'], RegExp, (desk: Desk, orderId: string) => Promise<unknown>][] = [
    ['suspended twice', 'suspend', /already suspended/, (desk, orderId) => done(desk, orderId, 'suspend')],
    ['resumed while it is not suspended', 'resume', /not suspended/, async () => undefined],
    ['suspended in Error', 'suspend', /is in Error/, async (desk) => desk.answer(await desk.request(), failed('Broken'))],
    ['suspended when it is finished', 'suspend', /is finished/, (desk, orderId) => done(desk, orderId, 'terminate')],
    ['resumed when it is finished', 'resume', /is finished/, (desk, orderId) => done(desk, orderId, 'terminate')],
    ['compensated while it is suspended', 'compensate', /Cancel it instead/, (desk, orderId) => done(desk, orderId, 'suspend')],
    ['resubmitted while it is suspended', 'resubmit', /Only an order in Error/, (desk, orderId) => done(desk, orderId, 'suspend')],
  ];
  for (const [what, kind, reason, before] of refused) {
    test(`F-60: the order cannot be ${what}, and the answer says why`, async (context) => {
      const desk = openDesk(context, lineOf(stepsNamed('one')));
      const orderId = await submitted(desk);
      await before(desk, orderId);
      const stored = await desk.store.load(orderId);
      const answer = await instruct(desk, orderId, kind);
      assert.match(answer.outcome === 'infeasible' ? answer.refusals.map(({ detail }) => detail).join(' ') : answer.outcome, reason);
      assert.ok(isDeepStrictEqual(await desk.store.load(orderId), stored), 'nothing is changed');
    });
  }

  test('F-60: a dry run of suspend shows the remaining time, and one of resume shows the new deadline', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('one')));
    const orderId = await submitted(desk);
    await desk.clock.advance(4_000);
    const plans = [await instruct(desk, orderId, 'suspend', { dryRun: true })];
    await done(desk, orderId, 'suspend');
    await desk.clock.advance(hourMs);
    plans.push(await instruct(desk, orderId, 'resume', { dryRun: true }));
    const until = new Date(desk.clock.now() + 6_000).toISOString();
    assert.deepEqual(
      plans.map((answer) =>
        answer.outcome === 'planned' ? [answer.plan?.suspended, answer.plan?.remainingSeconds, answer.plan?.completeBy] : answer,
      ),
      [
        [true, 6, null],
        [false, null, until],
      ],
    );
  });
});

describe('a suspended order whose record cannot be read', () => {
  for (const [how, change, expected] of [
    ['and stays as it is, if its journal tells the state', '', ['Processing', true]],
    ['in Error, and can still be compensated, if its journal does not tell the state', '"StepForgotten"', ['Error', true]],
  ] as const)
    test(`F-29, F-160: stays suspended ${how}`, async (context) => {
      const { desk, orderId, request } = await suspended(context);
      const found = await desk.state(orderId);
      await desk.store.patch({ ...found, rev: found.rev + 1 }, found);
      const damage = desk.database.prepare(
        `UPDATE states SET blob = replace(replace(blob, '"activities"', '"lost"'), '"StepRequested"', ?)`,
      );
      damage.run(change || '"StepRequested"');
      await desk.answer(request);
      const { processState, suspended: isSuspended } = await desk.state(orderId);
      assert.deepEqual([processState, isSuspended], expected);
      if (processState !== 'Error') return;
      await done(desk, orderId, 'compensate');
      assert.equal((await desk.state(orderId)).suspended, false);
    });
});
