import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { create as deadLetters } from '../../functions/dead-letter.ts';
import { queueEvent } from '../../lib/host/event-source.ts';
import { putBackForMs, putBackMs } from '../../lib/messages.ts';
import { type Desk, lineOf, ok, openDesk, replyTo, stepsNamed, submitted, temporaryFolder, typesOf } from './support.ts';

const line = lineOf(stepsNamed('pick', 'pack'));
const newer = (message: object): string => JSON.stringify({ ...message, v: 2, more: { of: 'it' } });
const rowOf = ({ database }: Pick<Desk, 'database'>, orderId: string) =>
  database.prepare('SELECT head FROM states WHERE id = (SELECT id FROM orders WHERE orderId = ?)').get(orderId) as { head: string };
const writeHead = ({ database }: Pick<Desk, 'database'>, orderId: string, head: string) =>
  database.prepare('UPDATE states SET head = ? WHERE id = (SELECT id FROM orders WHERE orderId = ?)').run(head, orderId);

/** An order as a newer version of the program writes it. */
function writtenByNewer(desk: Pick<Desk, 'database'>, orderId: string): string {
  const head = JSON.stringify({ ...JSON.parse(rowOf(desk, orderId).head), schemaVersion: 2, new: true });
  writeHead(desk, orderId, head);
  return head;
}

/** A message that fails often enough goes to the dead letters, and from there to what is kept for a person. */
async function setAside(desk: Desk): Promise<void> {
  for (let deliveries = 0; deliveries < 6; deliveries++) await desk.deliver('wake-ups');
  const dead = await desk.channel.receive('wake-ups-dead', { max: 10, visibilityMs: 60_000, waitMs: 0 });
  assert.equal(dead.length, 1);
  await deadLetters({ system: desk.system, environment: {}, accepting: () => true })(queueEvent('wake-ups-dead', dead));
}

describe('a message of a newer version', () => {
  const cases: readonly (readonly [queue: string, message: (context: TestContext) => object])[] = [
    ['worker-requests', () => ({ type: 'request', requestId: 'o/p/1#1.1' })],
    ['worker-replies', () => ({ type: 'reply', orderId: 'o', path: 'p' })],
    ['wake-ups', () => ({ type: 'wake-up', orderId: 'o' })],
    ['submissions', () => ({ type: 'submission', client: 'acme' })],
  ];
  for (const [queue, message] of cases) {
    test(`F13 F35 it goes back to ${queue}, whole, and after an hour it is set aside with the reason`, async (context) => {
      const desk = openDesk(context, line);
      await desk.send(queue, newer(message(context)));
      const { waitsSince: _, ...sent } = JSON.parse(newer(message(context)));
      // A message that comes twice each time must not become thousands: it comes seldom.
      for (const minutes of [1, 4, 15, 15, 15, 15]) {
        assert.equal(await desk.deliver(queue), 0);
        assert.deepEqual(
          desk.messages(queue).map(({ waitsSince: since, ...rest }) => [typeof since, rest]),
          [['string', sent]],
        );
        await desk.clock.advance(minutes * 60_000 - 1);
        assert.equal(await desk.deliver(queue), 0, `not before ${minutes} minutes are over`);
        await desk.clock.advance(1);
      }
      assert.deepEqual(desk.announced(), []);
      assert.equal(await desk.deliver(queue), 1, 'then it is a message like any other that cannot be processed');
    });
  }

  test('F13 on its way it keeps nobody else waiting, and whoever reads its version processes it', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    const request = await desk.request();
    const reply = replyTo(request, ok(), desk.clock.now());
    await desk.send('worker-replies', newer({ type: 'reply', orderId: 'another' }));
    await desk.send('worker-replies', reply);
    assert.equal(await desk.deliver('worker-replies'), 0);
    assert.equal((await desk.request()).path, 'order/pack');
    // The newer version's own words mean nothing here, but what was put in here means nothing there.
    await desk.send('worker-replies', { ...replyTo(request, ok(), 0), waitsSince: '2026-01-01T00:00:00.000Z' });
    assert.equal(await desk.deliver('worker-replies'), 0);
    assert.equal((await desk.state(orderId)).processState, 'Processing');
  });

  test('L6 what has waited for too long lies among what is set aside, and a person is told what to do', async (context) => {
    const desk = openDesk(context, line);
    await desk.send('wake-ups', newer({ type: 'wake-up', orderId: 'o' }));
    await desk.deliver('wake-ups');
    await desk.clock.advance(putBackForMs);
    await setAside(desk);
    const [kept] = desk.messages('set-aside');
    assert.match(String(kept?.['reason']), /^It is of a newer version of the program.* deploy it again, then send the message anew\.$/);
    assert.partialDeepStrictEqual(JSON.parse(String(kept?.['body'])), { v: 2, more: { of: 'it' } });
    assert.deepEqual(typesOf(desk.announced()), ['Poison Message Set Aside']);
  });
});

describe('while the app is changed, and its parts differ', () => {
  const folderDesk = (context: TestContext, dataFolder: string, ...versions: readonly number[]): Desk => {
    const apps = versions.map((version) => lineOf(stepsNamed('pick', 'pack'), { version }));
    return openDesk(context, { agents: apps[0]?.agents ?? [], workflows: apps.flatMap(({ workflows }) => workflows) }, { dataFolder });
  };

  test('F36 S20 a scheduler that does not have the new version yet leaves its orders alone, and nobody is called', async (context) => {
    const dataFolder = temporaryFolder(context);
    const both = folderDesk(context, dataFolder, 1, 2);
    const orderId = await submitted(both);
    const old = folderDesk(context, dataFolder, 1);
    await old.send('worker-replies', replyTo(await both.request(), ok(), both.clock.now()));
    const { head } = rowOf(old, orderId);
    assert.equal(await old.deliver('worker-replies'), 0);
    assert.deepEqual([rowOf(old, orderId).head, old.announced()], [head, []]);

    await both.clock.advance(putBackMs);
    await both.deliver('worker-replies');
    assert.equal((await both.request()).path, 'order/pack');
  });

  test('F36 L6 one that never gets it puts them before a person within ten minutes', async (context) => {
    const dataFolder = temporaryFolder(context);
    const both = folderDesk(context, dataFolder, 1, 2);
    const orderId = await submitted(both);
    const old = folderDesk(context, dataFolder, 1);
    await old.send('worker-replies', replyTo(await both.request(), ok(), both.clock.now()));
    for (let minutes = 0; minutes < 10; minutes++) {
      await old.deliver('worker-replies');
      await old.clock.advance(60_000);
    }
    const { processState, fault } = await old.state(orderId);
    assert.deepEqual([processState, fault?.message], ['Error', 'its workflow line@2 is not part of this app']);
    assert.deepEqual(typesOf(old.announced()), ['Service Exception', 'Order In Error']);
  });

  test('F36 a step whose operation an agent does not have yet is asked again, and done by one that has it', async (context) => {
    const dataFolder = temporaryFolder(context);
    const desk = openDesk(context, lineOf(stepsNamed('pick')), { dataFolder });
    const orderId = await submitted(desk);
    const old = openDesk(context, lineOf(stepsNamed('pack')), { dataFolder, clock: desk.clock });
    await old.deliver('worker-requests');
    await desk.deliver('worker-replies');
    assert.equal((await desk.state(orderId)).processState, 'Processing');
    await desk.clock.advance(10_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    await desk.answer(await desk.request());
    assert.equal((await desk.state(orderId)).outcome, 'completed');
  });
});

describe('an order that a newer version has written', () => {
  test('F35 S20 not a byte of it is changed: what comes for it waits for the newer version, and then counts', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    const request = await desk.request();
    const before = rowOf(desk, orderId).head;
    const head = writtenByNewer(desk, orderId);

    await desk.send('worker-replies', replyTo(request, ok(), desk.clock.now()));
    assert.equal(await desk.deliver('worker-replies'), 0);
    await desk.clock.advance(15_000);
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    assert.equal(rowOf(desk, orderId).head, head);
    assert.deepEqual(desk.announced(), []);
    assert.equal(desk.messages('worker-replies').length, 1);

    // As if the newer version were this one.
    writeHead(desk, orderId, before);
    await desk.clock.advance(putBackMs);
    assert.equal(await desk.deliver('worker-replies'), 0);
    assert.equal((await desk.request()).path, 'order/pack');
  });

  test('L6 where nobody runs that version any more, a person is told of it, and not oftener than once in an hour', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    const head = writtenByNewer(desk, orderId);
    for (let waitedMs = 0; waitedMs < 2 * putBackForMs; waitedMs += putBackMs) {
      await desk.clock.advance(putBackMs);
      await desk.supervisor.pass();
      if ((await desk.deliver('wake-ups')) > 0) await setAside(desk);
    }
    assert.deepEqual(
      desk.announced().map(({ detailType, detail }) => [detailType, detail['orderId']]),
      [['Poison Message Set Aside', orderId]],
    );
    assert.equal(rowOf(desk, orderId).head, head);
  });

  test('F35 no instruction is carried out on it', async (context) => {
    const desk = openDesk(context, line);
    const orderId = await submitted(desk);
    writtenByNewer(desk, orderId);
    for (const kind of ['cancel', 'compensate', 'terminate'] as const)
      await assert.rejects(desk.system.scheduler.instruct(orderId, { kind, by: 'olga', reason: 'no' }, { id: kind }), {
        message: /it has the schema version 2, and this program reads 1/,
      });
  });
});
