import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { assign, defineAgent, defineApp, defineWorkflow, operation, parallel, sequence, variable } from 'redress';
import * as z from 'zod';
import type { Check } from '#core/instructions/check';
import { InstanceLockedError } from '#ports/errors';
import type { Request } from '#ports/messages';
import type { Instruction } from '#roles/operator/instruction';
import { acquireLease } from '#roles/scheduler/lease';
import {
  countIn,
  type Desk,
  type DeskOptions,
  failed,
  journalOf,
  type LineOptions,
  lineOf,
  ok,
  openDesk,
  stepsIn,
  stepsNamed,
  submitted,
  timePasses,
  updating,
} from './support.ts';

type Options = Parameters<Desk['system']['scheduler']['instruct']>[2];
let ids = 0;
const instruct = (
  desk: Desk,
  orderId: string,
  more: Partial<Extract<Instruction, { kind: 'resubmit' }>> = {},
  options: Partial<Options> = {},
) =>
  timePasses(
    desk.clock,
    desk.system.scheduler.instruct(
      orderId,
      { kind: 'resubmit', by: 'olga', reason: 'the shelf is full again', ...more },
      { id: `i-${++ids}`, ...options },
    ),
  );

/** An order with four steps whose second step was refused. */
async function inError(context: TestContext, { line = {}, desk: options = {} }: { line?: LineOptions; desk?: DeskOptions } = {}) {
  const desk = openDesk(context, lineOf(stepsNamed('one', 'two', 'three', 'four'), line), options);
  const orderId = await submitted(desk);
  await desk.answer(await desk.request());
  await desk.answer(await desk.request(), failed('Broken'));
  assert.equal((await desk.state(orderId)).processState, 'Error');
  return { desk, orderId };
}
const left = operation({ input: z.object({}), output: z.object({}), run: () => ({}) });
const paths = (requests: readonly Request[]) => requests.map(({ path }) => path);

describe('an operator resubmits an order', () => {
  test('F-60: only the failed step and the ones after it run, and the order is Processed', async (context) => {
    const { desk, orderId } = await inError(context);
    assert.deepEqual(await instruct(desk, orderId), { outcome: 'done', rev: 4 });
    const requested: string[] = [];
    for (let requests = await desk.requests(); requests.length > 0; requests = await desk.requests()) {
      requested.push(...paths(requests));
      for (const request of requests) await desk.answer(request);
    }
    assert.deepEqual(requested, ['order/two', 'order/three', 'order/four']);
    assert.deepEqual(
      (await stepsIn(desk, orderId)).map(({ attempts, result }) => [attempts, result]),
      [
        [1, 'Succeeded'],
        [2, 'Succeeded'],
        [1, 'Succeeded'],
        [1, 'Succeeded'],
      ],
    );
    const { processState, outcome, fault } = await desk.state(orderId);
    assert.deepEqual([processState, outcome, fault], ['Processed', 'completed', null]);
  });

  test('F-60: the failure count restarts at zero, and the fault is gone', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('one')), { variables: { MAX_FAILURES: '0' } });
    const orderId = await submitted(desk);
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    assert.deepEqual([(await desk.state(orderId)).processState, (await desk.state(orderId)).failureCount], ['Error', 1]);
    await instruct(desk, orderId);
    const { processState, failureCount, fault } = await desk.state(orderId);
    assert.deepEqual([processState, failureCount, fault], ['Processing', 0, null]);
  });

  test('F-60: the journal names the operator and the reason', async (context) => {
    const { desk, orderId } = await inError(context);
    await instruct(desk, orderId);
    const given = (await journalOf(desk, orderId)).find(({ type }) => type === 'InstructionGiven');
    assert.deepEqual(given && { ...given, seq: 0 }, {
      seq: 0,
      at: desk.clock.now(),
      type: 'InstructionGiven',
      kind: 'resubmit',
      by: 'olga',
      reason: 'the shelf is full again',
      before: { processState: 'Error', outcome: null, suspended: false },
      after: { processState: 'Processing', outcome: null, suspended: false },
    });
  });

  test('F-60: the order may fail again, and be resubmitted again', async (context) => {
    const { desk, orderId } = await inError(context);
    for (let time = 2; time < 5; time++) {
      await instruct(desk, orderId);
      const request = await desk.request();
      assert.deepEqual([request.attempt, request.idempotencyKey], [time, `${orderId}/order/two/${time}`]);
      await desk.answer(request, failed('Broken'));
      assert.deepEqual([(await desk.state(orderId)).processState, (await desk.state(orderId)).errorGen], ['Error', time]);
    }
  });
});

describe('an instruction changes nothing', () => {
  const unchanged = async (desk: Desk, orderId: string, work: () => Promise<unknown>) => {
    const before = [await desk.store.load(orderId), countIn(desk, 'messages'), desk.announced().length];
    const answer = await work();
    assert.ok(
      isDeepStrictEqual([await desk.store.load(orderId), countIn(desk, 'messages'), desk.announced().length], before),
      'nothing is changed',
    );
    return answer;
  };

  test('F-60: when the order has changed since the operator read its state', async (context) => {
    const { desk, orderId } = await inError(context);
    assert.deepEqual(await unchanged(desk, orderId, () => instruct(desk, orderId, {}, { ifMatch: 2 })), { outcome: 'stale', rev: 3 });
    assert.equal((await instruct(desk, orderId, {}, { ifMatch: 3 })).outcome, 'done');
  });

  test('F-60: when the order does not exist', async (context) => {
    const { desk } = await inError(context);
    assert.deepEqual(await instruct(desk, 'ord_unknown'), { outcome: 'not-found' });
  });

  test('F-60, F-157: when nothing has failed: the order is Pending, Processing or Processed', async (context) => {
    const pending = openDesk(context, lineOf(stepsNamed('one')), { variables: { CLAIM_ON_SUBMIT: 'off' } });
    const orderId = await submitted(pending);
    const reasons: unknown[] = [];
    const ask = async () => reasons.push(await unchanged(pending, orderId, () => instruct(pending, orderId)));
    await ask();
    await pending.deliver('wake-ups');
    await ask();
    await pending.answer(await pending.request());
    await ask();
    const infeasible = (code: string, detail: string) => ({ outcome: 'infeasible', refusals: [{ code, detail }] });
    assert.deepEqual(reasons, [
      infeasible('not-blocked', 'Only an order in Error can be resubmitted; this one is Pending.'),
      infeasible('not-blocked', 'Only an order in Error can be resubmitted; this one is Processing.'),
      infeasible('finished', 'The order is finished (completed). Submit a new one instead.'),
    ]);
  });

  test('F-60, F-157: when the time limit of the order has passed, unless the instruction extends it', async (context) => {
    const { desk, orderId } = await inError(context, { line: { completeWithinSeconds: 60 } });
    await desk.clock.advance(60_000);
    assert.deepEqual(await unchanged(desk, orderId, () => instruct(desk, orderId)), {
      outcome: 'infeasible',
      refusals: [
        {
          code: 'time-limit-passed',
          detail: 'The time limit of the order passed at 2026-01-01T00:01:00.000Z. Extend it with "completeWithinSeconds".',
        },
      ],
    });
    assert.equal((await instruct(desk, orderId, { completeWithinSeconds: 5 })).outcome, 'done');
    const request = await desk.request();
    assert.equal(Date.parse(request.completeBy) - desk.clock.now(), 5_000, 'no step may take longer than the order');
  });

  test('F-60, F-157: when it is a dry run, which shows the requests that would be sent', async (context) => {
    const { desk, orderId } = await inError(context);
    const answer = await unchanged(desk, orderId, () => instruct(desk, orderId, {}, { dryRun: true }));
    const requests = [
      {
        path: 'order/two',
        agent: 'worker',
        operation: 'two',
        attempt: 2,
        idempotencyKey: `${orderId}/order/two/2`,
        completeBy: new Date(desk.clock.now() + 10_000).toISOString(),
      },
    ];
    const completeBy = requests[0]?.completeBy ?? null;
    assert.ok(answer && typeof answer === 'object');
    const { check, ...planned } = answer as { check: Check };
    assert.deepEqual(
      [check.feasible, check.effects, check.then],
      [
        true,
        { requests: [{ path: 'order/two', operation: 'two' }], undoes: [], skips: [], marks: [] },
        ['three', 'four'].map((name) => ({ path: `order/${name}`, operation: name })),
      ],
    );
    assert.deepEqual(
      check.graph.map(({ changes }) => changes),
      [[], ['runs'], ['runs'], ['runs']],
    );
    assert.deepEqual(planned, {
      outcome: 'planned',
      plan: { processState: 'Processing', requests, suspended: false, completeBy, remainingSeconds: null },
    });
    await instruct(desk, orderId);
    const { path, operation: name, attempt, idempotencyKey, completeBy: until } = await desk.request();
    assert.deepEqual(
      [{ path, agent: 'worker', operation: name, attempt, idempotencyKey, completeBy: until }],
      requests,
      'the resubmission sends exactly that request',
    );
  });

  test('F-60: when the instruction of another operator on the same revision is carried out first: the second one is stale', async (context) => {
    const { desk, orderId } = await inError(context);
    const answers = await Promise.all([
      instruct(desk, orderId, { by: 'olga' }, { ifMatch: 3 }),
      instruct(desk, orderId, { by: 'otto' }, { ifMatch: 3 }),
    ]);
    assert.deepEqual(answers.map(({ outcome }) => outcome).sort(), ['done', 'stale']);
    assert.equal((await desk.requests()).length, 1);
    assert.equal((await journalOf(desk, orderId)).filter(({ type }) => type === 'InstructionGiven').length, 1);
  });

  test('F-15: when another host holds the lease of the order', async (context) => {
    const { desk, orderId } = await inError(context);
    const lease = await acquireLease(desk.store, orderId, { holder: 'host-two', leaseMs: 30_000, clock: desk.clock });
    await unchanged(desk, orderId, () => assert.rejects(instruct(desk, orderId), InstanceLockedError));
    assert.equal((await instruct(desk, orderId, {}, { dryRun: true })).outcome, 'planned', 'a dry run is allowed');
    await lease?.release();
    assert.equal((await instruct(desk, orderId)).outcome, 'done');
  });

  test('F-157: when its result would violate an invariant', async (context) => {
    const { desk, orderId } = await tooBigToGoOn(context);
    const answer = await unchanged(desk, orderId, () => instruct(desk, orderId));
    assert.ok(answer && (answer as { outcome: string }).outcome === 'infeasible', JSON.stringify(answer));
    assert.match(String((answer as { refusals: { detail: string }[] }).refusals[0]?.detail), /would exceed 358400 bytes/);
  });
});

describe('an order in Error', () => {
  const worker = defineAgent('worker', { left, right: left, last: left });
  const fork = defineApp({
    workflows: [
      defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () =>
        sequence(parallel(worker.left({}), worker.right({})), worker.last({})),
      ),
    ],
    agents: [worker],
  });

  /** Two parallel steps: one was refused while the other still runs. */
  async function half(context: TestContext) {
    const desk = openDesk(context, fork);
    const orderId = await submitted(desk);
    const [left, right] = (await desk.requests()) as [Request, Request];
    await desk.answer(left, failed('Broken'));
    return { desk, orderId, left, right };
  }

  test('F-60: records a reply that arrives meanwhile, starts nothing, and uses the reply when it is resubmitted', async (context) => {
    const { desk, orderId, right } = await half(context);
    await desk.answer(right, ok({}));
    assert.equal((await desk.state(orderId)).processState, 'Error');
    assert.ok((await journalOf(desk, orderId)).some((entry) => entry.type === 'ReplyRecorded' && entry.path === 'order/parallel/right'));
    assert.deepEqual(await desk.requests(), []);

    await instruct(desk, orderId);
    const again = await desk.request();
    assert.equal(again.path, 'order/parallel/left', 'the other step is not requested again');
    await desk.answer(again);
    assert.equal((await desk.request()).path, 'order/last');
  });

  test('F-60: records one reply although it is delivered twice', async (context) => {
    const { desk, orderId, right } = await half(context);
    await desk.answer(right);
    const before = await desk.store.load(orderId);
    await desk.answer(right);
    await desk.answer(right, failed('Broken'));
    assert.deepEqual(await desk.store.load(orderId), before);
  });

  test('F-60: requests expired steps again on resubmission, and waits for the others', async (context) => {
    for (const [waitedMs, requested] of [
      [9_000, ['order/parallel/left']],
      [11_000, ['order/parallel/left', 'order/parallel/right']],
    ] as const) {
      const { desk, orderId } = await half(context);
      await desk.clock.advance(waitedMs);
      await desk.supervisor.pass();
      await desk.deliver('wake-ups');
      assert.deepEqual(
        [(await desk.state(orderId)).failureCount, (await desk.requests()).length],
        [0, 0],
        'the supervisor leaves it alone',
      );
      await instruct(desk, orderId);
      assert.deepEqual(paths(await desk.requests()), requested);
    }
  });

  test('F-60, S15: requests a step again after its time is over if it had failed transiently, and counts no expiry', async (context) => {
    const desk = openDesk(context, fork);
    const orderId = await submitted(desk);
    const [left, right] = (await desk.requests()) as [Request, Request];
    await desk.answer(right, failed('Busy', 'not now', { permanent: false }));
    await desk.answer(left, failed('Broken'));
    await desk.clock.advance(11_000);
    await instruct(desk, orderId);
    assert.deepEqual(paths(await desk.requests()), ['order/parallel/left', 'order/parallel/right']);
    await desk.supervisor.pass();
    assert.equal((await desk.state(orderId)).failureCount, 0);
  });

  test('F-60: returns to Error for a second recorded refusal as soon as the first is resolved', async (context) => {
    const { desk, orderId, right } = await half(context);
    await desk.answer(right, failed('AlsoBroken'));
    await instruct(desk, orderId);
    const { processState, fault, errorGen } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type, fault?.source, errorGen], ['Error', 'AlsoBroken', 'order/parallel/right', 2]);
    await instruct(desk, orderId);
    for (const request of await desk.requests()) await desk.answer(request);
    await desk.answer(await desk.request());
    assert.equal((await desk.state(orderId)).processState, 'Processed');
  });

  test('F-60: applies an instruction to the newer record if the write of the instruction has lost a race', async (context) => {
    let race: (() => Promise<unknown>) | undefined;
    const around = updating(async (store, ...write) => {
      await race?.();
      return store.update(...write);
    });
    const desk = openDesk(context, fork, { around });
    const orderId = await submitted(desk);
    const [left] = (await desk.requests()) as [Request, Request];
    await desk.answer(left, failed('Broken'));
    race = async () => {
      race = undefined;
      const head = await desk.store.head(orderId);
      if (head) await desk.store.patch({ ...head, rev: head.rev + 1 }, head);
    };
    assert.equal((await instruct(desk, orderId)).outcome, 'done');
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    assert.equal((await desk.requests()).length, 1);
  });
});

/** An order in Error whose recorded reply closes three composites; each keeps the whole order for its undo. */
async function tooBigToGoOn(context: TestContext) {
  const forget = operation({ input: z.object({ text: z.string() }), output: z.object({}), run: () => ({}) });
  const worker = defineAgent('worker', { left, right: left, last: left, forget });
  const app = defineApp({
    workflows: [
      defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, ({ order }) => {
        const noting = (name: string) =>
          sequence(assign(variable<number>(name), 1))
            .named(name)
            .undo(worker.forget({ text: order.item }));
        const noted = sequence(worker.right({}), noting('one'), noting('two'), noting('three'));
        return sequence(parallel(worker.left({}), noted), worker.last({}));
      }),
    ],
    agents: [worker],
  });
  const desk = openDesk(context, app);
  const orderId = await submitted(desk, { item: 'y'.repeat(150_000) });
  const [refused, answered] = (await desk.requests()) as [Request, Request];
  await desk.answer(refused, failed('Broken'));
  await desk.answer(answered, ok({}));
  assert.equal((await desk.state(orderId)).fault?.type, 'Broken');
  return { desk, orderId };
}
