import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, type JsonObject, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import { type Embedded, openEmbedded } from '#adapters/sqlite/open';
import { manualClock } from '#ports/clock';
import { StoreUnavailableError } from '#ports/errors';
import type { Publisher } from '#ports/event-bus';
import type { Request } from '#ports/messages';
import type { Queues } from '#ports/queues';
import { announcedAs, type OutboxEntry, type StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import { acquireLease } from '#roles/scheduler/lease';
import { sendEntries } from '#roles/scheduler/outbox';
import { queueEvent } from '#runtime/host/event-source';
import { registerClient } from '#testing/world/register-client';
import { create as schedulerFunction } from '../../functions/scheduler.ts';
import { rule } from '../support/rules.ts';
import {
  type Desk,
  type DeskOptions,
  failed,
  journalOf,
  lineOf,
  ok,
  openDesk,
  replyTo,
  sendingFails,
  stateIn,
  stepsNamed,
  submitted,
  tea,
  timePasses,
  updating,
} from './support.ts';

const step = operation({ input: z.object({}), output: z.object({}), run: () => ({}) });
const worker = defineAgent('worker', { left: step, right: step, more: step, last: step });
const Order = z.object({ item: z.string() });
/** Two branches, one with two steps: a batch of replies may block the order and send more requests in one write. */
const fork = defineApp({
  workflows: [
    defineWorkflow('fork', { version: 1, order: Order }, () =>
      sequence(parallel(worker.left({}), sequence(worker.right({}), worker.more({}))), worker.last({})),
    ),
  ],
  agents: [worker],
});
const line = lineOf(stepsNamed('one', 'two', 'three'));
/** A step that is undone, and another one. */
const undone = defineApp({
  workflows: [
    defineWorkflow('undone', { version: 1, order: Order }, () =>
      sequence(
        worker.left({}).undo(() => worker.right({})),
        worker.more({}),
      ),
    ),
  ],
  agents: [worker],
});
const mine = 'redress-response-acme';
const gone = new StoreUnavailableError('The store is gone.', { fatal: true });
const heard = { client: 'acme', responseChannel: mine };

/** Ports that trace their calls and may fail. As on AWS, no transaction spans writing and sending. */
function apart(context: TestContext, { app = line, ...options }: DeskOptions & { app?: typeof line } = {}) {
  const trace: string[] = [];
  const seen = <T>(what: string, work: () => Promise<T>): Promise<T> => {
    trace.push(what);
    return work();
  };
  const around = (ports: Embedded) => {
    const { store, queues, publisher } = { ...ports, ...options.around?.(ports) };
    return {
      store: {
        ...store,
        create: (...all: Parameters<Store['create']>) => seen('create', () => store.create(...all)),
        update: (...all: Parameters<Store['update']>) => seen('update', () => store.update(...all)),
        patch: (...all: Parameters<Store['patch']>) => seen('patch', () => store.patch(...all)),
      },
      queues: {
        ...queues,
        send: (messages: Parameters<Queues['send']>[0]) =>
          messages.length === 0
            ? Promise.resolve()
            : seen(`send ${messages.map(({ queue }) => queue).join(' ')}`, () => queues.send(messages)),
      },
      publisher: {
        publish: (announcements: Parameters<Publisher['publish']>[0]) =>
          seen(`publish ${announcements.map(({ detailType }) => detailType).join(', ')}`, () => publisher.publish(announcements)),
      },
    };
  };
  const desk = openDesk(context, app, { ...options, writesAndSendsAtomically: false, around });
  return { desk, trace, since: () => trace.splice(0) };
}
const register = (desk: Desk) => registerClient(desk.store, { id: 'acme', responseChannels: [mine], senders: [] });
const resubmit = (desk: Desk, orderId: string) =>
  timePasses(
    desk.clock,
    desk.system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'olga', reason: 'mended' }, { id: `i-${desk.clock.now()}` }),
  );
const withoutTime = ({ remainingMs: _, ...message }: JsonObject): JsonObject => message;
const bothAnswers = async (desk: Desk, [left, right]: readonly Request[]) => {
  for (const [request, result] of [
    [right, ok()],
    [left, failed('Broken')],
  ] as const) {
    assert.ok(request);
    await desk.send('worker-replies', replyTo(request, result, desk.clock.now()));
  }
};

describe('writing first, then sending', () => {
  test('S26: announcements and status messages go out after the write, and the requests last', async (context) => {
    const { desk, since } = apart(context, { app: fork });
    await register(desk);
    await submitted(desk, tea, heard);
    assert.deepEqual(since(), ['create', `send ${mine}`, 'send worker-requests worker-requests']);

    await bothAnswers(desk, await desk.requests());
    await desk.deliver('worker-replies');
    assert.deepEqual(since(), [
      'update',
      'publish Order In Error, Workflow Terminated, Exception Raised, Task Opened',
      `send ${mine}`,
      'send worker-requests',
    ]);
  });

  test('S26: a healthy order makes one write per step, and none to clear its outbox', async (context) => {
    const { desk, since } = apart(context);
    await register(desk);
    const orderId = await submitted(desk, tea, heard);
    for (let round = 0; round < 3; round++) await desk.answer(await desk.request());
    assert.deepEqual(
      since().filter((what) => ['create', 'update', 'patch'].includes(what)),
      ['create', 'update', 'update', 'update', 'patch'],
    );
    assert.deepEqual((await desk.state(orderId)).outbox, []);
    const quiet = apart(context);
    await submitted(quiet.desk);
    for (let round = 0; round < 3; round++) await quiet.desk.answer(await quiet.desk.request());
    assert.deepEqual(
      quiet.since().filter((what) => ['create', 'update', 'patch'].includes(what)),
      ['create', 'update', 'update', 'update'],
      'without announcements there is nothing to clear',
    );
  });

  test('S3: a refused write sends nothing', async (context) => {
    let refuses = false;
    const around = updating(async (store, state, ...rest) =>
      refuses ? { outcome: 'refused', current: await stateIn(store, state.orderId) } : store.update(state, ...rest),
    );
    const { desk, since } = apart(context, { around });
    await submitted(desk);
    const request = await desk.request();
    since();
    refuses = true;
    await desk.answer(request);
    assert.deepEqual([...new Set(since())], ['update', 'send worker-replies'], 'finally only the message itself is requeued');
  });

  test('S5: a write that is refused because its own first attempt was stored has succeeded', async (context) => {
    // The response got lost, the SDK retried, and met its own first attempt.
    const around = updating(async (store, state, ...rest) => {
      await store.update(state, ...rest);
      return { outcome: 'refused', current: await stateIn(store, state.orderId) };
    });
    const { desk, since } = apart(context, { around });
    const orderId = await submitted(desk);
    const request = await desk.request();
    since();
    await desk.answer(request);
    assert.deepEqual(since(), ['update', 'send worker-requests']);
    assert.equal((await desk.state(orderId)).rev, 2);
    assert.equal(desk.telemetry.counts()['raceLost'], undefined);
  });

  test('S5: a write that is refused because its own first attempt was stored has succeeded, even if another host has written since', async (context) => {
    const around = updating(async (store, state, ...rest) => {
      await store.update(state, ...rest);
      const head = await store.head(state.orderId);
      if (head) await store.patch({ ...head, rev: head.rev + 1 }, head);
      return { outcome: 'refused', current: await stateIn(store, state.orderId) };
    });
    const { desk } = apart(context, { around });
    await submitted(desk);
    await desk.answer(await desk.request());
    assert.equal((await desk.request()).path, 'order/two');
  });

  test('S5: a write whose response was lost is recognized when the message is redelivered', async (context) => {
    let lost = true;
    const around = updating(async (store, ...write) => {
      const answer = await store.update(...write);
      if (lost) throw new Error('time-out');
      return answer;
    });
    const { desk, since } = apart(context, { around });
    const orderId = await submitted(desk);
    const request = await desk.request();
    await desk.answer(request);
    assert.deepEqual(
      [(await desk.state(orderId)).rev, await desk.requests()],
      [2, []],
      'the state is written, nothing is sent, and the message is redelivered',
    );

    lost = false;
    since();
    assert.equal(await desk.deliver('worker-replies'), 0);
    assert.deepEqual(since(), ['send worker-requests']);
    assert.equal((await desk.request()).path, 'order/two');
  });
});

describe('when a function has answered', () => {
  for (const writesAndSendsAtomically of [true, false]) {
    test(`S26: none of its calls is still running (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, async (context) => {
      let open = 0;
      /** A port that counts its open calls. */
      const counted = <T extends object>(port: T): T =>
        new Proxy(port, {
          get(target, name) {
            const member: unknown = Reflect.get(target, name);
            if (typeof member !== 'function') return member;
            return (...all: unknown[]) => {
              const answer: unknown = member.apply(target, all);
              if (!(answer instanceof Promise)) return answer;
              open += 1;
              return answer.finally(() => void (open -= 1));
            };
          },
        });
      const long = lineOf(stepsNamed(...Array.from({ length: 12 }, (_, index) => `step${index}`)));
      const desk = openDesk(context, long, {
        writesAndSendsAtomically,
        around: ({ store, queues, publisher }) => ({ store: counted(store), queues: counted(queues), publisher: counted(publisher) }),
      });
      await register(desk);
      const handle = schedulerFunction({
        system: desk.system,
        environment: {},
        accepting: () => true,
      });
      await desk.system.submit({ client: 'acme', idempotencyKey: 'k', order: tea, responseChannel: mine });
      assert.equal(open, 0);
      for (let round = 0; round < 12; round++) {
        const requests = await desk.requests();
        const bodies = requests.map((request) =>
          JSON.stringify(replyTo(request, round === 10 ? failed('Broken') : ok({ text: 'x'.repeat(500) }), desk.clock.now())),
        );
        await handle(
          queueEvent(
            'worker-replies',
            bodies.map((body, index) => ({ messageId: `${round}/${index}`, body, receiveCount: 1, sentAt: 0, receipt: '' })),
          ),
        );
        assert.equal(open, 0, `after round ${round}`);
      }
      assert.equal(desk.messages(mine).at(-1)?.['status'], 'delayed');
    });
  }
});

describe('a redelivered message', () => {
  test('F-28: sends what its write had to send, under the same ids, and writes nothing', async (context) => {
    const { desk, since } = apart(context, { app: fork });
    await register(desk);
    const orderId = await submitted(desk, tea, heard);
    const requests = await desk.requests();
    await bothAnswers(desk, requests);
    await desk.deliver('worker-replies');
    const first = desk.messages('worker-requests').map(withoutTime);
    const before = await desk.state(orderId);
    since();

    await desk.clock.advance(1_000);
    await bothAnswers(desk, requests);
    await desk.deliver('worker-replies');
    assert.deepEqual(since(), [
      'publish Order In Error, Workflow Terminated, Exception Raised, Task Opened',
      `send ${mine}`,
      'send worker-requests',
    ]);
    assert.deepEqual(desk.messages('worker-requests').map(withoutTime), [
      ...first,
      ...first.map((request) => ({ ...request, resent: true })),
    ]);
    assert.deepEqual(
      desk.messages(mine).map(({ seq, status }) => [seq, status]),
      [
        [1, 'received'],
        [2, 'delayed'],
        [2, 'delayed'],
      ],
    );
    assert.deepEqual(await desk.state(orderId), before);
    assert.equal(desk.announced().length, 2, 'the bus has these ids already');
  });

  test('F-28: sends the first request if it is a wake-up whose claim was written, but whose request was not sent', async (context) => {
    let dead = false;
    const { desk, since } = apart(context, { around: sendingFails('worker-requests', () => dead), variables: { CLAIM_ON_SUBMIT: 'off' } });
    const orderId = await submitted(desk);
    dead = true;
    assert.equal(await desk.deliver('wake-ups'), 1);
    assert.equal((await desk.state(orderId)).processState, 'Processing');

    dead = false;
    since();
    assert.equal(await desk.deliver('wake-ups'), 0);
    assert.deepEqual(since(), ['send worker-requests']);
    assert.deepEqual([(await desk.request()).path, (await desk.state(orderId)).failureCount], ['order/one', 0]);
  });

  test('F-42: does not send again what a later write has made obsolete', async (context) => {
    const { desk, since } = apart(context);
    await submitted(desk);
    const first = await desk.request();
    await desk.answer(first);
    await desk.answer(await desk.request());
    since();
    await desk.answer(first);
    assert.deepEqual(since(), []);
  });
});

describe('the outbox of an order', () => {
  /** An order in Error with its next request sent. Its event bus and response queue fail while `away.now`. */
  async function unsent(context: TestContext) {
    const away = { now: false };
    const around: DeskOptions['around'] = (ports) => ({
      ...sendingFails(mine, () => away.now)(ports),
      publisher: {
        publish: (announcements) =>
          away.now ? Promise.resolve({ failed: announcements.map(({ id }) => id) }) : ports.publisher.publish(announcements),
      },
    });
    const opened = apart(context, { app: fork, around });
    const { desk } = opened;
    await register(desk);
    const orderId = await submitted(desk, tea, heard);
    const requests = await desk.requests();
    away.now = true;
    await bothAnswers(desk, requests);
    await desk.deliver('worker-replies');
    return { ...opened, orderId, requests, away };
  }
  const outboxOf = async (desk: Desk, orderId: string) => {
    const state = await desk.state(orderId);
    return state.outbox.map(({ id, unproven = false }) => `${id.replace(announcedAs(state), '').replace(orderId, '')} ${unproven}`);
  };

  for (const [what, failing] of Object.entries({
    'event bus': { publisher: { publish: () => Promise.reject(gone) } },
    'response queue': { queues: { send: () => Promise.reject(gone) } },
  }))
    test(`F-59, F-64: is not tried again after a fatal error of the ${what}, because the host must stop`, async (context) => {
      const clock = { ...manualClock(), sleep: async () => {} };
      const { store, database } = openEmbedded(':memory:', { clock });
      context.after(() => database.close());
      const ports = { publisher: { publish: async () => ({ failed: [] }) }, queues: { send: async () => {} }, clock, store };
      const entries: readonly OutboxEntry[] = [
        { id: 'a', kind: 'announcement', detailType: 'Order In Error', detail: {} },
        { id: 'b', kind: 'status', channel: mine, message: {} },
      ];
      await assert.rejects(sendEntries(entries, { ...ports, ...failing }), gone);
      assert.deepEqual([...(await sendEntries(entries, ports))], ['a', 'b']);
    });

  test('F-59: is marked for unacknowledged entries before the requests are sent, and the requests are still sent', async (context) => {
    const { desk, trace, orderId } = await unsent(context);
    assert.deepEqual(trace.slice(-2), ['patch', 'send worker-requests']);
    assert.deepEqual(await outboxOf(desk, orderId), ['#1 true', '#1/terminated true', '/status/2 true', '/cause/1 true']);
    assert.equal((await desk.request()).path, 'order/parallel/sequence/more');
  });

  test('F-59: if the write that marks a message as unsent loses its race, the record that won gets the mark', async (context) => {
    const clock = manualClock();
    let isFirst = true;
    const desk = openDesk(context, lineOf(stepsNamed('one')), {
      writesAndSendsAtomically: false,
      clock,
      around: (ports) => ({
        ...sendingFails('redress-response-test', () => true)(ports),
        store: {
          ...ports.store,
          patch: async (...write) => {
            const { orderId } = write[0];
            if (isFirst) await acquireLease(ports.store, orderId, { holder: 'another', leaseMs: 1, clock, policy: 'NoRetry' });
            isFirst = false;
            return ports.store.patch(...write);
          },
        },
      }),
    });
    await registerClient(desk.store, { id: 'test', responseChannels: ['redress-response-test'], senders: [] });
    const orderId = await submitted(desk, tea, { responseChannel: 'redress-response-test' });
    assert.deepEqual(
      (await desk.state(orderId)).outbox.map(({ unproven }) => unproven),
      [true],
    );
  });

  const later = [
    { how: 'at once', afterMs: 0 },
    { how: 'after its next deadline has passed as well', afterMs: 30_000 },
  ];
  for (const { how, afterMs } of later) {
    test(`F-59, S15: keeps a counted expiry when it is marked: the step is requested again, and not counted twice (${how})`, async (context) => {
      let isFirst = true;
      const desk = openDesk(context, lineOf(stepsNamed('one')), {
        writesAndSendsAtomically: false,
        around: (ports) => ({
          ...sendingFails('redress-response-test', () => true)(ports),
          store: {
            ...ports.store,
            patch: async (...write) => {
              const isMark = isFirst;
              isFirst = false;
              if (isMark) await desk.clock.advance(10_000);
              if (isMark) await desk.supervisor.pass();
              if (isMark) await desk.clock.advance(afterMs);
              return ports.store.patch(...write);
            },
          },
        }),
      });
      await registerClient(desk.store, { id: 'test', responseChannels: ['redress-response-test'], senders: [] });
      const orderId = await submitted(desk, tea, { responseChannel: 'redress-response-test' });
      assert.equal((await desk.state(orderId)).failureCount, 1);
      await desk.take('worker-requests');
      await desk.supervisor.pass();
      await desk.deliver('wake-ups');
      assert.deepEqual([(await desk.request()).attempt, (await desk.state(orderId)).failureCount], [2, 1]);
    });
  }

  test('F-59: is not cleared by a reply: only an acknowledgement proves that an entry was sent', async (context) => {
    const { desk, orderId, away } = await unsent(context);
    await desk.answer(await desk.request());
    assert.deepEqual(await outboxOf(desk, orderId), ['#1 true', '#1/terminated true', '/status/2 true', '/cause/1 true']);

    away.now = false;
    await desk.clock.advance(10_000);
    assert.equal((await desk.supervisor.pass()).woken, 1);
    await desk.deliver('wake-ups');
    assert.deepEqual(await outboxOf(desk, orderId), []);
    const announced = announcedAs(await desk.state(orderId));
    assert.deepEqual(
      desk.announced().map(({ id }) => id),
      [`${announced}#1`, `${announced}#1/terminated`],
    );
    assert.deepEqual(
      desk.messages(mine).map(({ seq }) => seq),
      [1, 2],
    );
  });

  test('F-07: a status message that cannot be sent is given up after a quarter of an hour; the order is not affected, and a person is notified', async (context) => {
    const { desk, orderId, away } = await unsent(context);
    await desk.clock.advance(900_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    const { tail } = JSON.parse((await desk.state(orderId)).blob) as { tail: { type: string }[] };
    assert.deepEqual(await outboxOf(desk, orderId), ['#1 true', '#1/terminated true', '/cause/1 true', '/status/2/undeliverable true']);
    assert.equal(tail.filter(({ type }) => type === 'ResponseUndeliverable').length, 1);

    away.now = false;
    await desk.clock.advance(60_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    const messagesOf = desk.announced().map(({ detailType, detail }) => [detailType, detail['type'], detail['source']]);
    assert.deepEqual(messagesOf.at(-1), ['Service Exception', 'ResponseUndeliverable', mine]);
    assert.deepEqual(await outboxOf(desk, orderId), []);
  });

  test('X-27: is retried once a minute after a while, not every ten seconds, because each try is a write', async (context) => {
    let away = false;
    const { desk } = apart(context, { app: lineOf(stepsNamed('one')), around: sendingFails(mine, () => away) });
    await register(desk);
    const orderId = await submitted(desk, tea, heard);
    away = true;
    await desk.answer(await desk.request());
    const pauses: number[] = [];
    for (let look = 1; look <= 32; look++) {
      const pause = ((await desk.state(orderId)).nextDueAt ?? 0) - desk.clock.now();
      pauses.push(pause);
      await desk.clock.advance(pause);
      await desk.supervisor.pass();
      await desk.deliver('wake-ups');
    }
    assert.equal(pauses[0], 10_000);
    assert.ok(Math.max(...pauses) > 59_000 && Math.max(...pauses) <= 60_000);
  });

  test('F-59: loses the entries that went out before a request as soon as the reply to that request arrives', async (context) => {
    const { desk, since } = apart(context);
    await register(desk);
    const orderId = await submitted(desk, tea, heard);
    assert.deepEqual(await outboxOf(desk, orderId), ['/status/1 false']);
    since();
    await desk.answer(await desk.request());
    assert.deepEqual(since(), ['update', 'send worker-requests']);
    assert.deepEqual(await outboxOf(desk, orderId), []);
  });

  test('F-59: keeps its entries after a reply to an earlier request: they are sent again under the same id, then cleared', async (context) => {
    const opened = apart(context, { app: fork });
    const { desk, since } = opened;
    await register(desk);
    const orderId = await submitted(desk, tea, heard);
    const [left, right] = (await desk.requests()) as [Request, Request];
    await desk.answer(right);
    await desk.answer(await desk.request(), failed('Broken'));
    await resubmit(desk, orderId);
    const head = await desk.store.head(orderId);
    assert.ok(head);
    const entry = {
      id: `${orderId}#9`,
      kind: 'announcement' as const,
      detailType: 'Order In Error' as const,
      detail: {},
      provenBy: [(await desk.request()).requestId],
    };
    await desk.store.patch({ ...head, rev: head.rev + 1, outbox: [entry] }, head);
    since();
    await desk.answer(left);
    assert.deepEqual(since(), ['publish Order In Error', 'update']);
    assert.deepEqual(await outboxOf(desk, orderId), []);
  });

  test('F-59: is marked by a redelivered message if the sender crashed, before a request is sent', async (context) => {
    const { desk, orderId, requests, since } = await unsent(context);
    const head = await desk.store.head(orderId);
    assert.ok(head);
    // The record as it was when the process crashed right after its write.
    await desk.store.patch({ ...head, rev: head.rev + 1, outbox: head.outbox.map(({ unproven: _, ...entry }) => entry) }, head);
    since();
    await bothAnswers(desk, requests);
    await desk.deliver('worker-replies');
    assert.deepEqual(since().slice(-2), ['patch', 'send worker-requests']);
    assert.deepEqual(await outboxOf(desk, orderId), ['#1 true', '#1/terminated true', '/status/2 true', '/cause/1 true']);
  });

  test('F-59: has its own deadline: it is retried ten seconds later, and that never counts as a failure', async (context) => {
    const { desk, orderId, away } = await unsent(context);
    for (let pass = 0; pass < 3; pass++) {
      const { nextDueFor, nextDueAt, worklist } = await desk.state(orderId);
      const restMs = (nextDueAt ?? 0) - desk.clock.now();
      assert.deepEqual([nextDueFor?.kind, worklist, restMs > 9_000 && restMs <= 10_000], ['outbox', 'due', true]);
      await desk.clock.advance(restMs - 1);
      assert.equal((await desk.supervisor.pass()).woken, 0);
      await desk.clock.advance(1);
      const { woken, counted } = await desk.supervisor.pass();
      assert.deepEqual([woken, counted], [1, 0]);
      away.now = pass < 2;
      await desk.deliver('wake-ups');
    }
    const { failureCount, nextDueFor, worklist, outbox } = await desk.state(orderId);
    assert.deepEqual([failureCount, nextDueFor?.kind, worklist, outbox], [0, 'reminder', 'error', []]);
  });

  test('F-59: keeps the order due until all is sent, even when it is Processed', async (context) => {
    let away = false;
    const { desk } = apart(context, { app: lineOf(stepsNamed('one')), around: sendingFails(mine, () => away) });
    await register(desk);
    const orderId = await submitted(desk, tea, heard);
    away = true;
    await desk.answer(await desk.request());
    const { processState, worklist } = await desk.state(orderId);
    assert.deepEqual([processState, worklist], ['Processed', 'due']);
    away = false;
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    const after = await desk.state(orderId);
    assert.deepEqual([after.worklist, after.nextDueAt, after.outbox], [null, null, []]);
  });

  test('F-02: an order is accepted as soon as it is stored, and unsent messages follow within ten seconds', async (context) => {
    let dead = true;
    const around: DeskOptions['around'] = ({ queues }) => ({
      queues: { ...queues, send: (messages) => (dead ? Promise.reject(new Error('killed')) : queues.send(messages)) },
    });
    const { desk } = apart(context, { around });
    await register(desk);
    const first = await desk.submit(tea, { ...heard, key: 'k' });
    assert.ok(first.outcome === 'accepted' && !first.replayed);
    dead = false;
    const again = await desk.submit(tea, { ...heard, key: 'k' });
    assert.ok(again.outcome === 'accepted' && again.replayed);
    await desk.clock.advance(5_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    assert.deepEqual(
      desk.messages(mine).map(({ seq, status }) => [seq, status]),
      [[1, 'received']],
    );
    assert.equal((await desk.request()).path, 'order/one');
  });

  test('F-63, F-02: an instruction is reported as done as soon as it is stored; unsent messages follow soon, and no failure counts', async (context) => {
    let away = false;
    const { desk } = apart(context, { around: sendingFails('worker-requests', () => away) });
    const orderId = await submitted(desk);
    await desk.answer(await desk.request(), failed('Broken'));
    away = true;
    const instruction = { kind: 'resubmit', by: 'olga', reason: 'it was mended' } as const;
    assert.equal((await desk.system.scheduler.instruct(orderId, instruction, { id: 'i-1' })).outcome, 'done');
    away = false;
    const { nextDueAt, nextDueFor, failureCount } = await desk.state(orderId);
    assert.deepEqual([nextDueFor?.kind, (nextDueAt ?? 0) - desk.clock.now()], ['unsent', 5_000]);
    await desk.clock.advance(5_000);
    assert.partialDeepStrictEqual(await desk.supervisor.pass(), { woken: 1, counted: 0 });
    await desk.deliver('wake-ups');
    assert.equal((await desk.request()).path, 'order/one');
    assert.partialDeepStrictEqual(await desk.state(orderId), { failureCount, nextDueFor: { kind: 'step' } });
  });

  for (const [lasts, seconds, attempt] of [
    ['for a moment', 5, 1],
    ['for longer than the step timeout', 60, 2],
  ] as const)
    test(`S15, F-48: when queues fail ${lasts} at the submission of an order, its step is requested when they are back, and was never late`, async (context) => {
      let away = true;
      const { desk } = apart(context, { around: sendingFails('worker-requests', () => away) });
      const orderId = await submitted(desk);
      await desk.clock.advance(seconds * 1000);
      away = false;
      assert.partialDeepStrictEqual(await desk.supervisor.pass(), { woken: 1, counted: 0 });
      await desk.deliver('wake-ups');
      const request = (await desk.requests()).at(-1);
      assert.ok(request);
      assert.equal(request.attempt, attempt);
      await desk.answer(request);
      assert.equal((await desk.request()).path, 'order/two');
      assert.equal((await desk.state(orderId)).failureCount, 0);
    });

  test('F-02, F-60: an order that a rule suspends while its requests cannot be sent keeps the deadline of its outbox', async (context) => {
    let away = false;
    const { desk } = apart(context, { app: undone, around: sendingFails('worker-requests', () => away) });
    const hold = rule({ id: 'hold', event: { kind: 'order-age', afterSeconds: 5 }, action: { kind: 'suspend' } });
    await desk.system.rules.put(hold, { by: 'ada', reason: 'a test', expected: undefined });
    const orderId = await submitted(desk);
    await desk.answer(await desk.request());
    await desk.answer(await desk.request(), failed('Broken'));
    await desk.clock.advance(6_000);
    away = true;
    const cancel = { kind: 'cancel', by: 'olga', reason: 'a test' } as const;
    assert.equal((await timePasses(desk.clock, desk.system.scheduler.instruct(orderId, cancel, { id: 'i-1' }))).outcome, 'done');
    away = false;
    assert.partialDeepStrictEqual(await desk.state(orderId), { suspended: true, nextDueFor: { kind: 'outbox' } });
    await desk.clock.advance(10_000);
    assert.partialDeepStrictEqual(await desk.supervisor.pass(), { woken: 1, counted: 0 });
    await desk.deliver('wake-ups');
    assert.deepEqual((await desk.state(orderId)).outbox, []);
  });

  test('F-02: the unsent mark does not touch what another host has written since', async (context) => {
    let away = false;
    const { desk } = apart(context, {
      around: ({ store, queues }) => ({
        queues: {
          ...queues,
          send: async (messages) => {
            const [orderId] = away ? messages.map(({ body }) => String((JSON.parse(body) as { orderId: string }).orderId)) : [];
            if (orderId === undefined) return queues.send(messages);
            const found = await store.load(orderId);
            assert.ok(found);
            const { state } = found;
            await store.update({ ...state, rev: state.rev + 1, writeIds: [{ id: 'other', rev: state.rev + 1 }] }, state, {
              messages: [],
              announcements: [],
            });
            throw new Error('away');
          },
        },
      }),
    });
    away = true;
    const orderId = await submitted(desk);
    assert.equal((await desk.state(orderId)).nextDueFor?.kind, 'step');
  });
});

describe('a crash between any two calls of the scheduler', () => {
  type Position = 'before' | 'after';
  /** A fatal error: nothing continues after it, as in a process that has ended. */
  const killed = () => Object.assign(new Error('killed'), { fatal: true });

  /** Ports of a process that crashes at its n-th call, before or after the call takes effect, until it is revived. */
  function mortal(crash: { at: number; position: Position }) {
    const life = { calls: 0, dead: false };
    const call = async <T>(work: () => Promise<T>): Promise<T> => {
      if (life.dead) throw killed();
      const isLast = life.calls++ === crash.at;
      if (isLast) life.dead = true;
      if (isLast && crash.position === 'before') throw killed();
      const answer = await work();
      if (isLast) throw killed();
      return answer;
    };
    const around: DeskOptions['around'] = ({ store, queues, publisher }) => ({
      store: {
        ...store,
        create: (...all) => call(() => store.create(...all)),
        update: (...all) => call(() => store.update(...all)),
        patch: (...all) => call(() => store.patch(...all)),
        putPage: (...all) => call(() => store.putPage(...all)),
        putUndoPage: (...all) => call(() => store.putUndoPage(...all)),
      },
      queues: { ...queues, send: (messages) => (messages.length === 0 ? Promise.resolve() : call(() => queues.send(messages))) },
      publisher: {
        publish: (announcements) => (announcements.length === 0 ? publisher.publish([]) : call(() => publisher.publish(announcements))),
      },
    });
    return { life, around };
  }

  /** One whole order with a refusal and a resubmission, under the given crash. */
  async function live(context: TestContext, crash: { at: number; position: Position }) {
    const { life, around } = mortal(crash);
    const desk = openDesk(context, fork, { writesAndSendsAtomically: false, around });
    await register(desk);
    const revive = () => (life.dead = false);
    const untilDone = async <T>(work: () => Promise<T>): Promise<T> =>
      work().catch(() => {
        revive();
        return work();
      });
    const orderId = await untilDone(() => submitted(desk, tea, { ...heard, key: 'k' }));
    let refused = false;
    for (let round = 0; round < 40; round++) {
      const state = await desk.state(orderId);
      if (state.processState === 'Processed' && state.outbox.length === 0) break;
      if (state.processState === 'Error') await untilDone(() => resubmit(desk, orderId));
      for (const request of await desk.requests()) {
        const refuses: boolean = request.operation === 'left' && !refused;
        refused ||= refuses;
        await desk.send('worker-replies', replyTo(request, refuses ? failed('Broken') : ok(), desk.clock.now()));
      }
      for (const queue of ['worker-replies', 'wake-ups'])
        for (let tries = 0; tries < 2; tries++) if ((await desk.deliver(queue)) > 0) revive();
      if ((await desk.queues.depth('worker-requests')).visible > 0) continue;
      await desk.clock.advance(10_000);
      await desk.supervisor.pass();
      await desk.deliver('wake-ups');
    }
    return { desk, orderId, calls: life.calls };
  }

  const messagesOf = (messages: readonly JsonObject[]) => [
    ...new Map(messages.map(({ seq, status }) => [seq, `${String(seq)} ${String(status)}`])).values(),
  ];

  test('F-58, F-28: leads to the same end of the order wherever it happens, and no recorded effect is repeated', {
    timeout: 120_000,
  }, async (context) => {
    const well = await live(context, { at: -1, position: 'before' });
    const ids = well.desk
      .announced()
      .map(({ id }) => id.slice(well.orderId.length))
      .sort();
    const statuses = messagesOf(well.desk.messages(mine));
    assert.ok(well.calls > 12 && ids.length === 2 && statuses.length === 3, `${well.calls} calls`);

    for (let at = 0; at < well.calls; at++) {
      for (const position of ['before', 'after'] as const) {
        const where = `call ${at}, ${position}`;
        const { desk, orderId } = await live(context, { at, position });
        const state: StateRecord = await desk.state(orderId);
        assert.deepEqual([state.processState, state.outcome, state.outbox], ['Processed', 'completed', []], where);
        assert.deepEqual(
          desk
            .announced()
            .map(({ id }) => id.slice(orderId.length))
            .sort(),
          ids,
          where,
        );
        assert.deepEqual(messagesOf(desk.messages(mine)), statuses, where);
        assert.ok(state.failureCount <= 1, where);
        const paths = (await journalOf(desk, orderId)).flatMap((entry) => (entry.type === 'ActivityClosed' ? [entry.path] : []));
        assert.equal(new Set(paths).size, paths.length, `no activity is closed twice: ${where}`);
        assert.equal(paths.length, 7, where);
      }
    }
  });
});
