import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { fault, type Json, PermanentFailure, TransientFailure, TransientFault } from 'redress';
import { manualClock } from '#ports/clock';
import { collections } from '#ports/documents';
import type { Reply, Request } from '#ports/messages';
import { createAgent } from '#roles/agent/agent';
import { type QueueHandler, startEventSource } from '#runtime/host/event-source';
import { createGate } from '#runtime/host/gate';
import { create as agentFunction } from '../../functions/agent.ts';
import {
  type Desk,
  failed,
  heartbeatFor,
  journalOf,
  type LineOptions,
  lineOf,
  nothing,
  openDesk,
  reaches,
  started,
  stepsNamed,
  submitted,
  timePasses,
} from './support.ts';

type Run = Parameters<typeof lineOf>[0][string];

/** An order whose single step runs this operation, with the number of runs and the seconds at which each began. */
async function served(
  context: TestContext,
  run: (clock: Desk['clock'], tried: number) => Run,
  options: LineOptions['operation'] & { waitsMs?: number } = {},
) {
  const { waitsMs = 0, ...operation } = options;
  const clock = manualClock();
  const start = clock.now();
  const ran: number[] = [];
  const pick: Run = (input, call) => {
    ran.push((clock.now() - start) / 1000);
    return run(clock, ran.length)(input, call);
  };
  const desk = openDesk(context, lineOf({ pick }, { operation }), { clock });
  const orderId = await submitted(desk);
  await clock.advance(waitsMs);
  const back = await desk.deliver('worker-requests');
  const replies = repliesOn(desk);
  return { desk, orderId, ran, back, replies, seconds: () => (clock.now() - start) / 1000 };
}
const repliesOn = (desk: Desk) => (desk.messages('worker-replies') as unknown as readonly Reply[]).filter(({ type }) => type === 'reply');

const sentBy = (desk: Desk) => desk.messages('worker-replies').map(({ type }) => type);

const busy = (retryAfterMs?: number): never => {
  throw new TransientFailure('busy', retryAfterMs === undefined ? {} : { retryAfterMs });
};

const busyFor = (tried: number): never => {
  throw new TransientFailure(`busy: ${tried}`);
};

describe('an agent retries transient failures', () => {
  test('F-37: when a service fails twice and then answers, the agent sends one reply in time', async (context) => {
    const { ran, replies, seconds } = await served(context, (_, tried) => () => (tried < 3 ? busy() : { id: 'r-1' }));
    assert.equal(ran.length, 3);
    assert.deepEqual(
      replies.map(({ result }) => result),
      [{ status: 'succeeded', output: { id: 'r-1' } }],
    );
    assert.ok(seconds() < 10);
  });

  test('F-37: the agent treats anything that an operation throws as a transient failure', async (context) => {
    const { ran, replies } = await served(context, (_, tried) => () => {
      if (tried === 1) throw new TypeError('undefined is no function');
      if (tried === 2) return Promise.reject(new Error('socket hang up'));
      if (tried === 3) return Promise.reject('a text');
      return { id: 'r-1' };
    });
    assert.equal(ran.length, 4);
    assert.equal(replies[0]?.result.status, 'succeeded');
  });

  test('F-37: the agent waits exactly as long as the service asks for', async (context) => {
    const { ran } = await served(context, (_, tried) => () => (tried === 1 ? busy(3_000) : {}));
    assert.deepEqual(ran, [0, 3]);
  });

  test('F-37: the pauses between tries grow, and before the deadline the agent replies with the last answer of the service', async (context) => {
    const { desk, ran, replies, seconds } = await served(context, (_, tried) => () => busyFor(tried), { attemptsMax: 1_000 });
    assert.ok(ran.length > 3 && ran.length < 100, `${ran.length} tries`);
    assert.ok(seconds() < 10);
    // If the random pauses exceed the retry budget, the request is redelivered and no try is made meanwhile.
    const { putBack = 0, leftWaiting = 0 } = desk.telemetry.counts();
    const heard = replies.map(({ result }) => result.status === 'failed' && result.fault.message);
    assert.deepEqual(heard, putBack + leftWaiting > 0 ? [] : [`busy: ${ran.length}`]);
  });

  test('F-37: when a service asks for a pause beyond the deadline, the agent does not call it again, and the order keeps the answer', async (context) => {
    const { desk, orderId, ran, seconds } = await served(context, () => () => busy(60_000));
    assert.deepEqual([ran, seconds()], [[0], 0]);
    await desk.deliver('worker-replies');
    assert.match((await desk.state(orderId)).nextDueFor?.heard ?? '', /busy/);
  });

  test('F-37: an operation with heartbeats is tried again even if the pause before the next try ends after its first deadline', async (context) => {
    const { ran, replies } = await served(context, (_, tried) => () => (tried === 1 ? busy(15_000) : {}), { longestSeconds: 60 });
    assert.deepEqual([ran, replies[0]?.result.status], [[0, 15], 'succeeded']);
  });

  test('F-37: when all tries of an operation have failed before the deadline, the agent replies at once, and the step is requested again after the deadline', async (context) => {
    const { desk, orderId, ran, replies } = await served(context, () => () => busy(), { attemptsMax: 2 });
    assert.equal(ran.length, 2);
    assert.deepEqual(
      replies.map(({ result }) => result),
      [{ status: 'failed', fault: { type: 'ServiceUnavailable', message: 'busy', permanent: false } }],
    );

    await desk.deliver('worker-replies');
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    assert.equal((await desk.request()).attempt, 2);
  });

  test('F-37: a declared transient fault keeps its own name, whether the operation throws it or returns it', async (context) => {
    const BankBusy = fault('BankBusy', TransientFault);
    const thrown = () => Promise.reject(new TransientFailure('closed for the night', { fault: BankBusy }));
    const answered: Run = (_, call) => call.failed(BankBusy, 'closed for the night');
    for (const [run, tries] of [
      [thrown, 2],
      [answered, 1],
    ] as const) {
      const { ran, replies } = await served(context, () => run, { attemptsMax: 2, faults: [BankBusy] });
      assert.equal(ran.length, tries, 'a reply ends the request, which is not repeated at once');
      const failed = { type: 'BankBusy', message: 'closed for the night', permanent: false };
      assert.deepEqual(
        replies.map(({ result }) => result),
        [{ status: 'failed', fault: failed }],
      );
    }
  });
});

describe('an agent keeps its deadline', () => {
  test('F-39: when a service is too slow, the agent sends no reply, and a metric counts that', async (context) => {
    let signal: AbortSignal | undefined;
    const { desk, replies, back, seconds } = await served(context, (clock) => async (_, call) => {
      signal = call.signal;
      await clock.sleep(15_000);
      return {};
    });
    assert.deepEqual([replies, back, desk.telemetry.counts()['expired']], [[], 0, 1]);
    assert.equal(signal?.aborted, true);
    assert.ok(seconds() >= 10 && seconds() < 11, 'it stops at the deadline, not at the answer of the service');
    assert.match(desk.log.join(''), /stopped expired request without a reply/);
    await desk.clock.advance(10_000);
    assert.deepEqual(desk.messages('worker-replies'), [], 'even when the service finally answers');
  });

  test('F-39: an operation does nothing further after its AbortSignal is aborted', async (context) => {
    const calls: string[] = [];
    await served(context, (clock) => async (_, { signal }) => {
      calls.push('reserve');
      await clock.sleep(15_000, signal);
      signal.throwIfAborted();
      calls.push('confirm');
      return {};
    });
    assert.deepEqual(calls, ['reserve']);
  });

  test('F-39: an operation that never ends does not block the rest of its batch', async (context) => {
    const { desk, back } = await served(context, (_, tried) => () => (tried === 1 ? new Promise<Json>(() => {}) : {}));
    assert.equal(back, 0);
    await submitted(desk);
    await desk.deliver('worker-requests');
    assert.equal(desk.messages('worker-replies').length, 1);
  });

  test('F-39: a request that arrives after its deadline does not begin', async (context) => {
    const { desk, ran, replies, back } = await served(context, () => nothing, { waitsMs: 10_000 });
    assert.deepEqual([ran, replies, back, desk.telemetry.counts()['expired']], [[], [], 0, 1]);
  });

  test('F-39: when the clocks of scheduler and agent disagree, the smaller remaining time counts', async (context) => {
    const { desk } = await served(context, () => nothing, { waitsMs: 10_000 });
    const ahead = { completeBy: new Date(desk.clock.now() + 3_600_000).toISOString(), remainingMs: 0 };
    const behind = { completeBy: new Date(desk.clock.now()).toISOString(), remainingMs: 3_600_000 };
    for (const times of [ahead, behind]) {
      const orderId = await submitted(desk);
      await desk.send('worker-requests', { ...(await desk.request()), ...times });
      await desk.deliver('worker-requests');
      assert.deepEqual(desk.messages('worker-replies'), [], orderId);
    }
  });
});

describe('an agent replies at once', () => {
  const result = async (context: TestContext, run: Run) => {
    const { ran, replies } = await served(context, () => run);
    assert.deepEqual([ran.length, replies.length], [1, 1], 'one try and one reply');
    return replies[0]?.result;
  };

  test('F-43: with a permanent failure', async (context) => {
    const refuse = () => {
      throw new PermanentFailure('AddressUnknown', 'no such street', { data: { street: 'Elm' } });
    };
    assert.deepEqual(await result(context, refuse), {
      status: 'failed',
      fault: { type: 'AddressUnknown', message: 'no such street', permanent: true, data: { street: 'Elm' } },
    });
  });

  test('F-43: with a permanent failure whose name is not a valid fault name', async (context) => {
    const refuse = () => {
      throw new PermanentFailure('address-unknown', 'no such street');
    };
    assert.deepEqual(await result(context, refuse), {
      status: 'failed',
      fault: { type: 'UnexpectedError', message: 'address-unknown: no such street', permanent: true },
    });
  });

  test('F-43: to an unknown operation, and to an input that the operation does not accept', async (context) => {
    const { desk, ran } = await served(context, () => nothing, { waitsMs: 10_000 });
    // An unknown operation may exist in a moment: during a deployment the parts of an app differ.
    const wrongs = [
      [{ operation: 'burn' }, false],
      [{ operation: 'constructor' }, false],
      [{ input: { orderId: 7 } }, true],
      [{ input: null }, true],
    ] as const;
    for (const [wrong, permanent] of wrongs) {
      await submitted(desk);
      const request = { ...(await desk.request()), ...wrong } as Request;
      await desk.send('worker-requests', request);
      await desk.deliver('worker-requests');
      const reply = repliesOn(desk).at(-1);
      const fault = reply?.result.status === 'failed' ? reply.result.fault : undefined;
      assert.deepEqual([reply?.requestId, fault?.type, fault?.permanent], [request.requestId, 'RequestRefused', permanent]);
    }
    assert.deepEqual(ran, []);
  });

  test('F-45: to the requests of a batch in which a message is not a request, and dead-letters that message', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }));
    await submitted(desk);
    await desk.send('worker-requests', '{"v":1,"type":"request"}');
    await desk.send('worker-requests', 'no json');
    assert.equal(await desk.deliver('worker-requests'), 0);
    assert.deepEqual([desk.messages('worker-replies').length, desk.messages('worker-requests-dead').length], [1, 2]);
  });
});

describe('many agents on one channel', () => {
  test('F-45: ten agents share a thousand requests, and each request gets one reply', async (context) => {
    const desk = openDesk(context, lineOf({ pick: nothing }), { variables: { STEP_COMPLETE_WITHIN_SECONDS: '600' } });
    await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        desk.system.submit({ client: 'acme', idempotencyKey: `k${index}`, order: { item: 'tea' } }),
      ),
    );
    const shares: number[] = [];
    const source = { queue: 'worker-requests', batchSize: 10, concurrency: 1, visibilityMs: 60_000, maxReceiveCount: 5 };
    const context10 = {
      system: desk.system,
      environment: { REDRESS_AGENTS: 'worker' },
      accepting: () => true,
    };
    const agents = Array.from({ length: 10 }, (_, index) => {
      const serve = agentFunction(context10);
      const { signal: stopping } = new AbortController();
      const handler: QueueHandler = (event) => {
        shares[index] = (shares[index] ?? 0) + event.Records.length;
        return serve(event, { stopping });
      };
      return startEventSource(source, handler, {
        ...desk.system,
        gate: createGate(desk.store, desk.clock, desk.telemetry),
        onFatal: (error) => assert.fail(String(error)),
      });
    });
    while ((await desk.queues.depth('worker-requests')).visible + (await desk.queues.depth('worker-requests')).inFlight > 0)
      await desk.clock.advance(10);
    await Promise.all(agents.map((agent) => agent.stop()));

    const answered = desk.messages('worker-replies').map(({ requestId }) => requestId);
    assert.deepEqual([answered.length, new Set(answered).size], [1_000, 1_000]);
    assert.ok(shares.length === 10 && shares.every((share) => share > 0), `each has its share: ${shares.join(' ')}`);
  });
});

describe('long work', () => {
  /** Starts a whole system whose one step takes `takesSeconds` and may extend its deadline to `longestSeconds`. */
  async function longWork(context: TestContext, takesSeconds: number, longestSeconds: number) {
    const clock = manualClock();
    const ran: number[] = [];
    const run: Run = async () => {
      ran.push(clock.now());
      await clock.sleep(takesSeconds * 1000);
      return {};
    };
    const system = await started(context, lineOf({ pick: run }, { operation: { longestSeconds, completeWithinSeconds: 10 } }), { clock });
    return { system, ran, orderId: await submitted(system) };
  }

  test('F-37: when an operation extends its deadline in time, it is requested once, runs once and counts no failure', async (context) => {
    const { system, ran, orderId } = await longWork(context, 45, 60);
    await reaches(system, orderId, 'Processed');
    assert.equal(ran.length, 1);
    assert.equal((await system.state(orderId)).failureCount, 0);
    const journal = await journalOf(system, orderId);
    const requested = journal.find(({ type }) => type === 'StepRequested');
    const extended = journal.filter(({ type }) => type === 'StepExtended');
    assert.ok(
      requested && extended[0] && extended[0].at - requested.at < 10_000 / 3,
      'it extends the deadline within the first third of its time',
    );
  });

  /** Sends a heartbeat every second for `beats` seconds; then the work hangs, or is done after 45 seconds. */
  const beating = async (context: TestContext, beats: number) => {
    const clock = manualClock();
    const ran: number[] = [];
    const run: Run = async (_, call) => {
      ran.push(clock.now());
      for (let second = 0; second < 45; second++) {
        if (second < beats) await call.heartbeat();
        await clock.sleep(1_000);
      }
      return {};
    };
    const operation = { longestSeconds: 60, completeWithinSeconds: 10, heartbeats: 'manual' } as const;
    const system = await started(context, lineOf({ pick: run }, { operation }), { clock });
    return { system, ran, orderId: await submitted(system) };
  };

  test('F-37: each heartbeat renews the deadline of its operation, and the agent sends fewer messages than heartbeats', async (context) => {
    const { system, ran, orderId } = await beating(context, 45);
    await reaches(system, orderId, 'Processed');
    const extended = (await journalOf(system, orderId)).filter(({ type }) => type === 'StepExtended');
    assert.equal(ran.length, 1);
    assert.equal((await system.state(orderId)).failureCount, 0);
    assert.ok(extended.length >= 4 && extended.length <= 45, `${extended.length} messages`);
  });

  test('F-37, F-39: when an operation hangs after three seconds, it is requested again ten seconds later although its process runs', async (context) => {
    const { system, ran, orderId } = await beating(context, 3);
    await system.clock.advance(20_000);
    assert.equal((await system.state(orderId)).failureCount, 1);
    assert.ok(ran.length === 2 && (ran[1] ?? 0) - (ran[0] ?? 0) <= 16_000, `requested ${ran.length} times`);
  });

  test('F-37: after a heartbeat has requested the maximum time, the agent sends no more heartbeats, because each costs a write of the order', async (context) => {
    const clock = manualClock();
    const work: Run = async () => (await clock.sleep(19_000)) ?? {};
    const desk = openDesk(context, lineOf({ work }, { operation: { longestSeconds: 20, completeWithinSeconds: 10 } }), { clock });
    await submitted(desk);
    await desk.deliver('worker-requests');
    assert.deepEqual(sentBy(desk), ['heartbeat', 'heartbeat', 'heartbeat', 'heartbeat', 'reply']);
  });

  test('F-37: when a requeued request has one second left, its heartbeats ask for the whole time of a request, and not for one second', async (context) => {
    const clock = manualClock();
    const work: Run = async () => (await clock.sleep(19_000)) ?? {};
    const desk = openDesk(context, lineOf({ work }, { operation: { longestSeconds: 60, completeWithinSeconds: 10 } }), { clock });
    await submitted(desk);
    const request = await desk.request();
    const late = { remainingMs: 1_000, givenMs: 10_000, completeBy: new Date(clock.now() + 1_000).toISOString() };
    await desk.send('worker-requests', { ...request, ...late });
    await desk.deliver('worker-requests');
    assert.deepEqual(sentBy(desk), ['heartbeat', 'heartbeat', 'heartbeat', 'heartbeat', 'heartbeat', 'heartbeat', 'heartbeat', 'reply']);
  });

  test('F-37: an operation without a maximum time may call heartbeat: the agent sends nothing, and the step completes', async (context) => {
    const work: Run = async (_, call) => (await call.heartbeat()) ?? {};
    const desk = openDesk(context, lineOf({ work }));
    const orderId = await submitted(desk);
    await desk.deliver('worker-requests');
    assert.deepEqual(sentBy(desk), ['reply']);
    await desk.deliver('worker-replies');
    assert.equal((await desk.state(orderId)).outcome, 'completed');
  });

  test('F-37: an operation of many minutes begins once, however long its message stays in flight', async (context) => {
    const { system, ran, orderId } = await longWork(context, 400, 600);
    await reaches(system, orderId, 'Processed', { withinMs: 500_000, stepMs: 1_000 });
    assert.equal(ran.length, 1);
    assert.deepEqual(await system.store.documents(collections.deadLetters('worker'), undefined, 10), []);
  });

  test('F-37: a slow operation does not begin a second time before its deadline', async (context) => {
    const clock = manualClock();
    let ran = 0;
    const slow: Run = async () => {
      ran += 1;
      await clock.sleep(200_000);
      return {};
    };
    const system = await started(context, lineOf({ pick: slow }, { operation: { completeWithinSeconds: 300 } }), { clock });
    await reaches(system, await submitted(system), 'Processed', { withinMs: 300_000, stepMs: 1_000 });
    assert.equal(ran, 1);
  });

  test('F-39: when the maximum time is over, the agent aborts the work without a reply and the step is requested again', async (context) => {
    const { system, ran, orderId } = await longWork(context, 45, 20);
    await system.clock.advance(24_000);
    assert.equal((await system.state(orderId)).failureCount, 1);
    assert.equal(ran.length, 2);
    assert.ok((ran[1] ?? 0) - (ran[0] ?? 0) >= 20_000);
  });

  test('F-39: the maximum time counts from the request, not from the start of the work', async (context) => {
    const { replies, seconds } = await served(context, (clock) => () => clock.sleep(15_000), {
      completeWithinSeconds: 10,
      longestSeconds: 20,
      waitsMs: 8_000,
    });
    assert.deepEqual(replies, []);
    assert.ok(seconds() < 21);
  });

  test('F-37: before an agent replies, all its heartbeats are sent, because Lambda may freeze the process after the reply', async (context) => {
    const clock = manualClock();
    const work: Run = async () => (await clock.sleep(4_000)) ?? {};
    const desk = openDesk(context, lineOf({ work }, { operation: { longestSeconds: 60, completeWithinSeconds: 10 } }), { clock });
    await submitted(desk);
    const done: string[] = [];
    const slow: Desk['queues']['send'] = async (messages) => {
      const { type } = JSON.parse(messages[0]?.body ?? '') as { readonly type: string };
      if (type === 'heartbeat') await clock.sleep(2_000);
      await desk.queues.send(messages);
      done.push(type);
    };
    const agent = createAgent(desk.system.definitions.agents[0] ?? assert.fail(), {
      ...desk.system,
      queues: { ...desk.queues, send: slow },
    });
    const served = agent(await desk.request()).then(() => done.push('returned'));
    await timePasses(clock, served);
    assert.deepEqual(done, ['reply', 'heartbeat', 'returned']);
  });

  const extend = async (
    context: TestContext,
    longestSeconds: number | undefined,
    beats: (desk: Desk, request: Request) => Promise<unknown>,
  ) => {
    const desk = openDesk(
      context,
      lineOf(stepsNamed('pick', 'pack'), longestSeconds === undefined ? {} : { operation: { longestSeconds } }),
    );
    const orderId = await submitted(desk);
    const start = desk.clock.now();
    await beats(desk, await desk.request());
    return { desk, orderId, completeBy: (((await desk.state(orderId)).completeBy ?? 0) - start) / 1000 };
  };
  const beat = async (desk: Desk, request: Request, inSeconds: number, queue = 'worker-replies') => {
    await desk.send(queue, heartbeatFor(request, desk.clock.now() + inSeconds * 1000, desk.clock.now()));
    await desk.deliver(queue);
  };

  test('F-33: a heartbeat moves the deadline to the later of the current and the requested one, up to the maximum time', async (context) => {
    assert.equal((await extend(context, 60, (desk, request) => beat(desk, request, 25))).completeBy, 25);
    assert.equal((await extend(context, 60, (desk, request) => beat(desk, request, 5))).completeBy, 10, 'never earlier');
    assert.equal((await extend(context, 60, (desk, request) => beat(desk, request, 3_600))).completeBy, 60);
    assert.equal(
      (await extend(context, undefined, (desk, request) => beat(desk, request, 25))).completeBy,
      10,
      'an operation without a maximum time cannot extend its deadline',
    );
  });

  test('F-42: a heartbeat of an earlier attempt, of another agent or of a finished step moves no deadline', async (context) => {
    const old = await extend(context, 60, (desk, request) =>
      beat(desk, { ...request, requestId: request.requestId.replace('#1.1', '#1.2'), attempt: 2 }, 25),
    );
    assert.equal(old.completeBy, 10);
    const foreign = await extend(context, 60, (desk, request) => beat(desk, request, 25, 'other-replies'));
    assert.equal(foreign.completeBy, 10);
    const { desk, orderId } = await extend(context, 60, async (desk, request) => {
      await desk.answer(request, failed('Broken'));
      await beat(desk, request, 25);
    });
    assert.equal((await desk.state(orderId)).completeBy, null, 'a blocked order has no deadline');
  });

  test('F-33: a repeated heartbeat, or an earlier one that arrives late, changes nothing', async (context) => {
    const { desk, orderId } = await extend(context, 60, async (desk, request) => {
      await beat(desk, request, 25);
      await beat(desk, request, 25);
      await beat(desk, request, 20);
    });
    assert.equal((await desk.state(orderId)).rev, 2);
  });
});
