import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, delay, operation, sequence } from 'redress';
import * as z from 'zod';
import type { SystemEvents } from '#runtime/system';
import { registerClient } from '#testing/world/register-client';
import {
  type Desk,
  type DeskOptions,
  lineOf,
  nothing,
  ok,
  openDesk,
  reaches,
  sendingFails,
  started,
  stateIn,
  stepsNamed,
  submitted,
  tea,
  temporaryFolder,
  timePasses,
  typesOf,
} from './support.ts';

const line = lineOf(stepsNamed('pick', 'pack'));
const modes = [
  { writesAndSendsAtomically: true, how: 'one transaction' },
  { writesAndSendsAtomically: false, how: 'write, then send' },
];

const lost = 'its instance is damaged and cannot be rebuilt: No line of the journal can be read';

const rowOf = ({ database }: Pick<Desk, 'database'>, orderId: string) =>
  database.prepare('SELECT head, blob FROM states WHERE id = (SELECT id FROM orders WHERE orderId = ?)').get(orderId) as {
    head: string;
    blob: string;
  };
const write = ({ database }: Pick<Desk, 'database'>, orderId: string, column: 'head' | 'blob', text: string) =>
  database.prepare(`UPDATE states SET ${column} = ? WHERE id = (SELECT id FROM orders WHERE orderId = ?)`).run(text, orderId);
const resubmit = (desk: Desk, orderId: string) =>
  timePasses(
    desk.clock,
    desk.system.scheduler.instruct(orderId, { kind: 'resubmit', by: 'olga', reason: 'mended' }, { id: `i-${desk.clock.now()}` }),
  );
let wakes = 0;
async function wake(desk: Desk, ...orderIds: readonly string[]): Promise<number> {
  for (const orderId of orderIds)
    await desk.send('wake-ups', { v: 1, type: 'wake-up', orderId, sentAt: new Date(desk.clock.now() + ++wakes).toISOString() });
  return desk.deliver('wake-ups');
}

describe('an order whose record cannot be read', () => {
  for (const { writesAndSendsAtomically, how } of modes) {
    test(`F-63: is put into Error once, and its instance is not changed (${how})`, async (context) => {
      const desk = openDesk(context, line, { writesAndSendsAtomically });
      const orderId = await submitted(desk);
      write(desk, orderId, 'blob', '{"state":{"pha');
      assert.equal(await wake(desk, orderId), 0, 'its message is not redelivered');

      const { processState, fault } = await stateIn(desk.store, orderId);
      assert.deepEqual([processState, fault?.type, fault?.class, fault?.message], ['Error', 'RecordUnreadable', 'basic-failure', lost]);
      assert.equal(rowOf(desk, orderId).blob, '{"state":{"pha');
      const { head } = rowOf(desk, orderId);
      for (let pass = 0; pass < 3; pass++) {
        await wake(desk, orderId);
        await desk.clock.advance(20_000);
        assert.equal((await desk.supervisor.pass()).woken, 0, 'no role reads it endlessly');
      }
      assert.equal(rowOf(desk, orderId).head, head);
      const announcements = desk
        .announced()
        .map(({ detailType, detail }) => [detailType, detail['id'], detail['type'], detail['before'], detail['after']]);
      const announced = `${orderId}@${JSON.parse(head).submittedAt}`;
      assert.deepEqual(announcements, [
        ['Service Exception', `${announced}#1/service`, 'RecordUnreadable', 'Processing', 'Error'],
        ['Order In Error', `${announced}#1`, 'RecordUnreadable', 'Processing', 'Error'],
      ]);
    });

    test(`F-63: still sends its submitter the status messages that were not yet sent (${how})`, async (context) => {
      let away = true;
      const desk = openDesk(context, line, { writesAndSendsAtomically, around: sendingFails('mine', () => away) });
      await registerClient(desk.store, { id: 'acme', responseChannels: ['mine'], senders: [] });
      const orderId = await submitted(desk, tea, { client: 'acme', responseChannel: 'mine' });
      write(desk, orderId, 'blob', 'x');
      await wake(desk, orderId);
      away = false;
      await desk.clock.advance(10_000);
      await desk.supervisor.pass();
      await desk.deliver('wake-ups');
      assert.deepEqual(
        desk.messages('mine').map(({ status }) => status),
        ['received'],
      );
      assert.deepEqual((await stateIn(desk.store, orderId)).outbox, []);
      await desk.clock.advance(60_000);
      assert.equal((await desk.supervisor.pass()).woken, 0);
    });
  }

  test('F-63: when the event bus fails, the announcement is retried with growing pauses, up to a minute', async (context) => {
    const desk = openDesk(context, line, {
      writesAndSendsAtomically: false,
      around: (ports) => ({ ...ports, publisher: { publish: async () => Promise.reject(new Error('The bus is gone.')) } }),
    });
    const orderId = await submitted(desk);
    write(desk, orderId, 'blob', 'x');
    const pauses: number[] = [];
    for (let tries = 0; tries < 40; tries++) {
      await timePasses(desk.clock, wake(desk, orderId));
      const pause = ((await desk.store.head(orderId))?.nextDueAt ?? 0) - desk.clock.now();
      pauses.push(pause);
      await desk.clock.advance(pause);
    }
    assert.ok((pauses[0] ?? 0) <= 10_000);
    assert.ok(Math.max(...pauses) > 59_000 && Math.max(...pauses) <= 60_000);
  });

  test('F-63: does not stop the others of its batch, and the host emits an event', async (context) => {
    const heard: SystemEvents['servicesExceptionNotHandled'][] = [];
    const desk = openDesk(context, lineOf({ pick: nothing }), {
      variables: { CLAIM_ON_SUBMIT: 'off' },
      emit: (event, detail) => event === 'servicesExceptionNotHandled' && heard.push(detail as never),
    });
    const ids = [await submitted(desk), await submitted(desk), await submitted(desk)];
    write(desk, ids[1] ?? '', 'blob', '');
    assert.equal(await desk.deliver('wake-ups'), 0);
    await desk.deliver('worker-requests');
    await desk.deliver('worker-replies');
    const states = await Promise.all(ids.map(async (orderId) => (await stateIn(desk.store, orderId)).processState));
    assert.deepEqual(states, ['Processed', 'Error', 'Processed']);
    assert.deepEqual(
      heard.map(({ service, orderId }) => [service, orderId]),
      [['store', ids[1]]],
    );
  });

  test('F-63: with unreadable attributes is announced without a write, and all others are processed', async (context) => {
    const system = await started(context, lineOf({ pick: nothing }), { variables: { CLAIM_ON_SUBMIT: 'off' } });
    const [good, broken, other] = [await submitted(system), await submitted(system), await submitted(system)];
    write(system, broken, 'head', '{"rev":1,');
    for (const orderId of [good, other]) await reaches(system, orderId, 'Processed');
    await system.clock.advance(30_000);
    await reaches(system, await submitted(system), 'Processed');

    assert.deepEqual(
      system.publisher.published(0, 100).map(({ detailType, detail }) => [detailType, detail['orderId'], detail['message']]),
      [['Service Exception', broken, 'it is damaged']],
    );
    assert.equal(rowOf(system, broken).head, '{"rev":1,');
  });

  test('F-63: with an unreadable order row is announced without a write, too', async (context) => {
    const dataFolder = temporaryFolder(context);
    const before = openDesk(context, line, { dataFolder, variables: { CLAIM_ON_SUBMIT: 'off' } });
    const orderId = await submitted(before);
    before.database.prepare("UPDATE orders SET record = '{' WHERE orderId = ?").run(orderId);
    const desk = openDesk(context, line, { dataFolder });
    assert.equal(await desk.deliver('wake-ups'), 0);
    assert.equal((await desk.store.head(orderId))?.fault?.type, 'RecordUnreadable');
  });

  test('F-63: stays finished if it was finished, whatever the damage', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('pick')));
    const orderId = await submitted(desk);
    const request = await desk.request();
    await desk.answer(request);
    write(desk, orderId, 'blob', 'x');
    await desk.answer(request);
    await wake(desk, orderId);
    const { processState, outcome, rev } = await stateIn(desk.store, orderId);
    assert.deepEqual([processState, outcome, rev], ['Processed', 'completed', 2]);
    assert.deepEqual(typesOf(desk.announced()), ['Service Exception']);
  });

  test('F-63, F-160: with damage anywhere in its instance stops no queue: it continues, or is put into Error', async (context) => {
    const outcomes = new Map<string, number>();
    for (let at = 0; at < 600; at += 3) {
      const desk = openDesk(context, line);
      const orderId = await submitted(desk);
      const request = await desk.request();
      const { blob } = rowOf(desk, orderId);
      if (at >= blob.length) break;
      write(desk, orderId, 'blob', blob.slice(0, at) + String.fromCharCode(33 + ((blob.charCodeAt(at) + at) % 90)) + blob.slice(at + 1));
      await desk.answer(request);
      await desk.clock.advance(10_000);
      await desk.supervisor.pass();
      assert.equal(await wake(desk, orderId), 0, `a flip at ${at} of ${blob}`);
      assert.deepEqual(desk.messages('worker-replies'), [], `a flip at ${at} of ${blob}`);
      const { processState } = await stateIn(desk.store, orderId);
      outcomes.set(processState, (outcomes.get(processState) ?? 0) + 1);
    }
    assert.ok((outcomes.get('Error') ?? 0) > 30 && (outcomes.get('Processing') ?? 0) > 10, JSON.stringify([...outcomes]));
  });
});

describe('an order whose workflow version is unknown', () => {
  const folderDesk = (context: TestContext, dataFolder: string, versions: readonly number[], options: DeskOptions = {}) => {
    const apps = versions.map((version) => lineOf(stepsNamed('pick', 'pack'), { version }));
    const [first] = apps;
    assert.ok(first);
    return openDesk(context, { ...first, workflows: apps.flatMap(({ workflows }) => workflows) }, { dataFolder, ...options });
  };

  for (const claim of ['on', 'off']) {
    test(`F-63: is put into Error, and continues when its version is deployed again (claimed on submission: ${claim})`, async (context) => {
      const dataFolder = temporaryFolder(context);
      const old = folderDesk(context, dataFolder, [1], { variables: { CLAIM_ON_SUBMIT: claim } });
      const orderId = await submitted(old);
      await old.take('worker-requests');

      const without = folderDesk(context, dataFolder, [2]);
      await wake(without, orderId);
      assert.equal((await stateIn(without.store, orderId)).fault?.message, 'its workflow line@1 is not part of this app');
      await reachesItsEnd(without, await submitted(without, tea, { key: 'another' }));

      const both = folderDesk(context, dataFolder, [1, 2]);
      assert.equal((await resubmit(both, orderId)).outcome, 'done');
      await reachesItsEnd(both, orderId);
      assert.deepEqual((await stateIn(both.store, orderId)).workflow, { name: 'line', version: 1 });
    });
  }

  test('F-63, X-35: if a newer program wrote its record, it is left to that program; a person is notified only after an hour', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    const request = await desk.request();
    const { head } = rowOf(desk, orderId);
    const newer = JSON.stringify({ ...(JSON.parse(head) as object), schemaVersion: 2 });
    write(desk, orderId, 'head', newer);
    await desk.answer(request, ok());
    await wake(desk, orderId);
    assert.deepEqual([rowOf(desk, orderId).head, desk.announced()], [newer, []]);
    assert.deepEqual(desk.messages('wake-ups'), [], 'the next wake-up repeats the announcement');

    write(desk, orderId, 'head', head);
    await desk.clock.advance(5000);
    await desk.deliver('worker-replies');
    assert.equal((await desk.request()).path, 'order/pack', 'its reply was kept');

    write(desk, orderId, 'head', newer);
    await desk.clock.advance(3_700_000);
    await wake(desk, orderId);
    assert.deepEqual(
      desk.announced().map(({ detailType }) => detailType),
      ['Service Exception'],
    );
  });

  test('F-63, X-35: is left to a process of that version for an hour, and then a person is notified', async (context) => {
    const dataFolder = temporaryFolder(context);
    const both = folderDesk(context, dataFolder, [1, 2]);
    const orderId = await submitted(both);
    const old = folderDesk(context, dataFolder, [1]);
    await old.answer(await old.request(), ok());
    await wake(old, orderId);
    assert.equal((await stateIn(old.store, orderId)).processState, 'Processing');
    await both.clock.advance(5000);
    await both.deliver('worker-replies');
    await both.answer(await both.request(), ok());
    assert.equal((await stateIn(both.store, orderId)).processState, 'Processed');

    const left = await submitted(both, tea, { key: 'another' });
    await old.clock.advance(3_700_000);
    await wake(old, left);
    assert.equal((await stateIn(old.store, left)).fault?.message, 'its workflow line@2 is not part of this app');
  });

  async function reachesItsEnd(desk: Desk, orderId: string): Promise<void> {
    for (let step = 0; step < 2; step++) for (const request of await desk.requests()) await desk.answer(request, ok());
    assert.equal((await stateIn(desk.store, orderId)).processState, 'Processed');
  }
});

describe('an order whose record can be read again', () => {
  /** Damages the record, has that discovered, repairs it and resubmits the order. */
  async function mended(desk: Desk, orderId: string): Promise<void> {
    const { blob } = rowOf(desk, orderId);
    write(desk, orderId, 'blob', 'x');
    await wake(desk, orderId);
    assert.equal((await stateIn(desk.store, orderId)).processState, 'Error');
    await assert.rejects(resubmit(desk, orderId), { name: 'UnreadableRecordError' }, 'not before it is repaired');
    write(desk, orderId, 'blob', blob);
    assert.equal((await resubmit(desk, orderId)).outcome, 'done');
  }

  test('F-63, F-60: continues where it stopped, under the same idempotency keys', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    await desk.answer(await desk.request());
    const before = await desk.request();
    await mended(desk, orderId);
    const again = await desk.request();
    assert.deepEqual([again.path, again.idempotencyKey, again.attempt], ['order/pack', before.idempotencyKey, 2]);
    await desk.answer(again);
    assert.equal((await desk.state(orderId)).processState, 'Processed');
  });

  test('F-63: keeps its RecordUnreadable fault until it is resubmitted, even if a reply arrives first', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    const request = await desk.request();
    const { blob } = rowOf(desk, orderId);
    write(desk, orderId, 'blob', 'x');
    await wake(desk, orderId);
    write(desk, orderId, 'blob', blob);
    await desk.answer(request);
    const { processState, fault } = await desk.state(orderId);
    assert.deepEqual([processState, fault?.type, fault?.message], ['Error', 'RecordUnreadable', lost]);

    await resubmit(desk, orderId);
    assert.equal((await desk.request()).path, 'order/pack', 'the reply was kept');
  });

  test('F-63, F-89: keeps waiting if it was waiting, and repeats nothing', async (context) => {
    const worker = defineAgent('worker', {
      pick: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
      pack: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
    });
    const app = defineApp({
      workflows: [
        defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }) }, () =>
          sequence(worker.pick({}), delay({ seconds: 60 }), worker.pack({})),
        ),
      ],
      agents: [worker],
    });
    const desk = openDesk(context, app);
    const orderId = await submitted(desk);
    await desk.answer(await desk.request());
    await mended(desk, orderId);
    assert.deepEqual(await desk.requests(), []);
    await desk.clock.advance(60_000);
    await wake(desk, orderId);
    assert.equal((await desk.request()).path, 'order/pack');
  });

  test('F-63, F-60, L1: continues its compensation', async (context) => {
    const worker = defineAgent('worker', {
      pick: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
      putBack: operation({ input: z.object({}), output: z.object({}), run: () => ({}) }),
    });
    const once = defineWorkflow('line', { version: 1, order: z.object({ item: z.string() }), completeWithinSeconds: 100 }, () =>
      sequence(
        worker.pick({}).undo(() => worker.putBack({})),
        delay({ seconds: 60 }),
      ),
    );
    const desk = openDesk(context, defineApp({ workflows: [once], agents: [worker] }));
    const orderId = await submitted(desk);
    await desk.answer(await desk.request());
    await desk.system.scheduler.instruct(orderId, { kind: 'cancel', by: 'acme', reason: 'not wanted' }, { id: 'cancel' });
    const before = await desk.request();
    await desk.clock.advance(200_000);
    await mended(desk, orderId);
    const again = await desk.request();
    assert.deepEqual([again.path, again.idempotencyKey], ['order/pick/undo', before.idempotencyKey]);
    await desk.answer(again);
    const { processState, outcome } = await desk.state(orderId);
    assert.deepEqual([processState, outcome], ['Processed', 'canceled']);
  });

  test('F-63, F-50: is claimed by its resubmission if it had been reset', async (context) => {
    const desk = openDesk(context, lineOf(stepsNamed('pick', 'pack'), { recover: 'order' }));
    const orderId = await submitted(desk);
    const before = await desk.request();
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.take('wake-ups');
    assert.equal((await desk.state(orderId)).processState, 'Pending');
    await mended(desk, orderId);
    const { processState, lockedBy, epoch } = await desk.state(orderId);
    assert.deepEqual([processState, lockedBy, epoch], ['Processing', 'host-one', 3]);
    const again = await desk.request();
    assert.deepEqual([again.idempotencyKey, again.epoch], [before.idempotencyKey, 3]);
  });
});
