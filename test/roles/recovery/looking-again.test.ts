import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { queueNames, type Request } from '#ports/messages';
import { rule } from '../../support/rules.ts';
import { type Desk, failed, journalOf, ok, submitted, timePasses } from '../support.ts';
import { foundIn, received, told } from './warehouse.ts';

const quarterMs = 900_000;

/** Returns a receipt and a sale, and what recovers the step that has booked. */
async function recoverable(context: TestContext) {
  const { desk, receipt, sale, pack } = await received(context);
  let calls = 0;
  /** Recovers the step that has booked, and has its service answer what is at work, and undo the booking. */
  const recovered = async (atWork: Request) => {
    const instruction = { kind: 'recover', by: 'olga', reason: 'wrong papers', path: 'order/book' } as const;
    const { outcome } = await timePasses(desk.clock, desk.system.scheduler.instruct(receipt, instruction, { id: `i${++calls}` }));
    assert.equal(outcome, 'done');
    await desk.answer(atWork, failed('Stopped'));
    const undo = (await desk.requests()).find(({ operation }) => operation === 'unbook');
    await desk.answer(undo as Request, ok({}));
  };
  return { desk, receipt, sale, pack, recovered };
}

/** Loses every message on the queue of wake-ups. */
async function loseWakeUps(desk: Desk): Promise<void> {
  const lost = await desk.queues.receive(queueNames.wakeUps, { max: 10, visibilityMs: 1000, waitMs: 0 });
  await desk.queues.acknowledge(
    queueNames.wakeUps,
    lost.map(({ receipt }) => receipt),
  );
}

test('S46, F-152: an order whose message about an undone write is lost learns of the undo a quarter of an hour later, once', async (context) => {
  const { desk, sale, pack, recovered } = await recoverable(context);
  await recovered(pack);
  await desk.deliver(queueNames.submissions);
  await loseWakeUps(desk);
  assert.equal(await foundIn(desk, sale), 0);
  for (let looks = 0; looks < 6; looks++) {
    await desk.clock.advance(quarterMs);
    await told(desk);
    assert.equal(await foundIn(desk, sale), 1);
  }
  await desk.clock.advance(quarterMs);
  assert.deepEqual(await desk.queues.receive(queueNames.submissions, { max: 10, visibilityMs: 1, waitMs: 0 }), []);
});

test('S46, F-151: an order whose step may have read before the undo, and closes after it, learns of the undo at the next look', async (context) => {
  const { desk, pack, recovered } = await recoverable(context);
  const late = await submitted(desk, { lot: '4711' }, { workflow: 'take' });
  const reserve = await desk.request();
  await desk.clock.advance(10);
  await recovered(pack);
  await told(desk);
  await desk.clock.advance(5_000);
  await desk.answer(reserve, ok({}));
  assert.equal(await foundIn(desk, late), 0);
  await desk.clock.advance(quarterMs);
  await told(desk);
  assert.equal(await foundIn(desk, late), 1);
});

test('S46: a second undo of a step does not notify an order that has read only the first write of that step', async (context) => {
  const { desk, sale, pack, recovered } = await recoverable(context);
  await recovered(pack);
  await told(desk);
  assert.equal(await foundIn(desk, sale), 1);
  const again = (await desk.requests()).find(({ operation }) => operation === 'book');
  await desk.clock.advance(10);
  await desk.answer(again as Request, ok({}));
  const packAgain = (await desk.requests()).find(({ operation }) => operation === 'pack');
  await recovered(packAgain as Request);
  await told(desk);
  assert.equal(await foundIn(desk, sale), 1);
});

test('F-131: if one write stops an order with an exception and also applies a rule about the age of the order, the exception is recorded', async (context) => {
  const given = rule({ id: 'old', event: { kind: 'order-age', afterSeconds: 5 }, action: { kind: 'recover', path: 'order/book' } });
  const { desk, receipt, pack } = await received(context, given);
  await desk.clock.advance(6_000);
  await desk.answer(pack, failed('PapersWrong'));
  const kinds = async () => (await journalOf(desk, receipt)).map(({ type }) => type).filter((type) => type.startsWith('Exception'));
  assert.deepEqual([(await desk.state(receipt)).causes, await kinds()], [1, ['ExceptionDetected', 'ExceptionDiagnosed']]);
});
