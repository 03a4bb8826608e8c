import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exceptionIdOf, taskIdOf } from '#roles/exceptions/ids';
import { exceptionOf, taskOf } from '#roles/exceptions/read';
import { type Desk, failed, lineOf, ok, openDesk, stepsNamed, submitted, timePasses, typesOf } from './support.ts';

const few = stepsNamed('pick', 'pack');
const many = stepsNamed(...Array.from({ length: 24 }, (_, index) => `step${index}`));
const lose = ({ database }: Desk): void => void database.prepare('DELETE FROM states').run();
const instruct = (desk: Desk, orderId: string, kind: 'terminate' | 'compensate') =>
  timePasses(desk.clock, desk.system.scheduler.instruct(orderId, { kind, by: 'olga', reason: 'lost' }, { id: `i-${desk.clock.now()}` }));

describe('F-160: an order whose state item is missing', () => {
  for (const writesAndSendsAtomically of [true, false])
    test(`does not continue: the next message puts it into Error, once (${writesAndSendsAtomically ? 'one transaction' : 'write, then send'})`, async (context) => {
      const desk = openDesk(context, lineOf(few), { writesAndSendsAtomically });
      const orderId = await submitted(desk);
      const pick = await desk.request();
      lose(desk);
      await desk.answer(pick);
      const { processState, fault, open } = await desk.state(orderId);
      assert.deepEqual([processState, fault?.type, open?.length], ['Error', 'RecordUnreadable', 1]);
      assert.match(fault?.message ?? '', /No line of the journal can be read/);
      await desk.answer(pick);
      assert.deepEqual(typesOf(desk.announced()), ['Service Exception', 'Order In Error']);
      assert.deepEqual(await desk.requests(), [], 'nothing is done twice');
    });

  test('names in its fault the line up to which its journal is readable', async (context) => {
    const desk = openDesk(context, lineOf(many));
    const orderId = await submitted(desk);
    for (let step = 0; step < 20; step++) await desk.answer(await desk.request());
    const last = await desk.request();
    lose(desk);
    await desk.answer(last);
    const { message = '' } = (await desk.state(orderId)).fault ?? {};
    const [, line] = /readable up to line (\d+)\. The lost state held the lines after it/.exec(message) ?? [];
    assert.ok(Number(line) > 10, message);
  });

  test('F-29: can be ended by a person, but not undone, because keys of lost requests are unknown', async (context) => {
    const desk = openDesk(context, lineOf(few));
    const orderId = await submitted(desk);
    const pick = await desk.request();
    lose(desk);
    await desk.answer(pick);
    const refused = await instruct(desk, orderId, 'compensate');
    assert.match(JSON.stringify(refused), /the keys of later requests are unknown/);
    assert.equal((await instruct(desk, orderId, 'terminate')).outcome, 'done');
    const { processState, outcome, open } = await desk.state(orderId);
    assert.deepEqual([processState, outcome, open ?? []], ['Processed', 'terminated', []]);
  });

  test('F-103: has a task for the loss beside its earlier task, and the end of the order closes both tasks', async (context) => {
    const desk = openDesk(context, lineOf(few));
    const orderId = await submitted(desk);
    const pick = await desk.request();
    await desk.answer(pick, failed('Closed'));
    lose(desk);
    await desk.answer(pick);
    const states = async () =>
      (await Promise.all([1, 2].map((seq) => taskOf(taskIdOf(orderId, seq), desk.store)))).map((task) => task?.state);
    assert.deepEqual(await states(), ['open', 'open']);
    const { causes, open } = await desk.state(orderId);
    assert.deepEqual([causes, open?.map(({ cause }) => cause.split('/')[0])], [2, ['lost', 'error']]);
    assert.equal((await instruct(desk, orderId, 'terminate')).outcome, 'done');
    assert.deepEqual(await states(), ['resolved', 'resolved']);
    assert.ok((await exceptionOf(exceptionIdOf(orderId, 1), desk.store))?.handling);
  });

  test('is found when a person has it rebuilt, and a dry run of the rebuild changes nothing', async (context) => {
    const desk = openDesk(context, lineOf(few));
    const orderId = await submitted(desk);
    lose(desk);
    const look = { id: 'l', by: 'olga', reason: 'r', beside: () => [] };
    const looked = await desk.system.scheduler.rebuild(orderId, { ...look, dryRun: true });
    assert.partialDeepStrictEqual(looked, { outcome: 'examined', found: { isReadable: false, lines: 0 } });
    assert.equal(await desk.store.head(orderId), undefined);
    assert.equal((await desk.system.scheduler.rebuild(orderId, { ...look, dryRun: false })).outcome, 'infeasible');
    assert.equal((await desk.store.head(orderId))?.processState, 'Processing');
    await desk.supervisor.pass();
    await desk.deliver('wake-ups');
    assert.equal((await desk.state(orderId)).processState, 'Error');
  });

  test('is an unknown order if its order row is missing, too: nothing is announced', async (context) => {
    const desk = openDesk(context, lineOf(few));
    await submitted(desk);
    const pick = await desk.request();
    desk.database.prepare('DELETE FROM states').run();
    desk.database.prepare('DELETE FROM orders').run();
    await desk.answer(pick, ok());
    assert.equal(await desk.store.head(pick.orderId), undefined);
    assert.deepEqual(desk.announced(), []);
  });
});
