import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, operation, parallel, sequence } from 'redress';
import * as z from 'zod';
import type { Request } from '#ports/messages';
import { type Desk, failed, ok, openDesk, submitted, timePasses } from '../support.ts';

const Lot = z.object({ lot: z.string() });
const step = operation({ input: Lot, output: z.object({ shelf: z.number() }), run: () => ({ shelf: 7 }) });
const worker = defineAgent('worker', { order: step, book: step, label: step, shelve: step, undo: step });
/** Books goods on a shelf, then labels the lot and shelves it side by side. */
const receive = defineWorkflow('receive', { version: 1, order: Lot }, ({ order }) => {
  const undone = () => worker.undo({ lot: order.lot });
  const both = parallel(
    sequence(worker.label({ lot: order.lot }).undo(undone)).named('labeling'),
    sequence(worker.shelve({ lot: order.lot }).undo(undone)).named('shelving'),
  );
  return sequence(worker.order({ lot: order.lot }).undo(undone), worker.book({ lot: order.lot }).undo(undone), both.named('both'));
});
/** Orders goods, and books them for good. */
const keep = defineWorkflow('keep', { version: 1, order: Lot }, ({ order: { lot } }) =>
  sequence(
    worker.order({ lot }).undo(() => worker.undo({ lot })),
    worker.book({ lot }).noUndo(),
  ),
);
const app = defineApp({ workflows: [receive, keep], agents: [worker] });

async function received(context: TestContext, workflow = 'receive') {
  const desk = openDesk(context, app);
  const orderId = await submitted(desk, { lot: '4711' }, { workflow });
  let calls = 0;
  const recover = (path?: string, dryRun = false) => {
    const instruction = { kind: 'recover', by: 'olga', reason: 'wrong papers', ...(path === undefined ? {} : { path }) } as const;
    return timePasses(desk.clock, desk.system.scheduler.instruct(orderId, instruction, { id: `call-${++calls}`, dryRun }));
  };
  const answerNext = async () => desk.answer(await desk.request(), ok({ shelf: 7 }));
  return { desk, orderId, recover, answerNext };
}

/** Answers every request until there is none; resolves to their operations, with the last part of each path. */
async function playedOut(desk: Desk): Promise<readonly string[]> {
  const asked: string[] = [];
  for (let requests = await desk.requests(); requests.length > 0; requests = await desk.requests())
    for (const request of requests) {
      asked.push(named(request));
      await desk.answer(request, ok({ shelf: 7 }));
    }
  return asked;
}
const named = ({ path, confirming }: Request): string =>
  `${confirming ? 'confirm ' : ''}${path.replace(/^order\//, '').replace(/^both\/\w+\//, '')}`;
const requested = (messages: readonly Request[]): readonly string[] => messages.filter(({ type }) => type === 'request').map(named);

test('F-148, F-150: a recovery undoes the done work of the affected scope, newest first, and then requests its step again', async (context) => {
  const { desk, orderId, recover, answerNext } = await received(context);
  await answerNext();
  await answerNext();
  const [label, shelve] = await desk.requests();
  assert.ok(label && shelve);
  await desk.answer(label, ok({ shelf: 7 }));
  await desk.answer(shelve, failed('Broken'));
  const planned = await recover('order/book', true);
  assert.ok(planned.outcome === 'planned');
  assert.deepEqual(
    planned.check.effects.undoes.map(({ path }) => path),
    ['order/both/labeling/label', 'order/book'],
  );
  assert.equal((await recover('order/book')).outcome, 'done');
  assert.deepEqual(await playedOut(desk), ['label/undo', 'book/undo', 'book', 'label', 'shelve']);
  assert.equal((await desk.state(orderId)).outcome, 'completed');
});

test('F-150: a step at work is canceled and awaited before it is undone, and a step that has not begun is left alone', async (context) => {
  const { desk, recover, answerNext } = await received(context);
  await answerNext();
  const book = await desk.request();
  assert.equal((await recover('order/book')).outcome, 'done');
  assert.deepEqual(requested(await desk.requests()), [], 'nothing is undone while the step may be at work');
  await desk.answer(book, ok({ shelf: 7 }));
  assert.deepEqual(requested(await desk.requests()), ['book/undo']);
});

test('F-150: a step whose outcome is unknown is confirmed before it is undone', async (context) => {
  const { desk, recover, answerNext } = await received(context);
  await answerNext();
  await desk.answer(await desk.request(), failed('Lost', 'no answer', { outcomeUnknown: true }));
  assert.equal((await recover('order/book')).outcome, 'done');
  const [confirmation, ...others] = await desk.requests();
  assert.ok(confirmation);
  assert.deepEqual([named(confirmation), others.length], ['confirm book', 0]);
  await desk.answer(confirmation, ok({ shelf: 7 }));
  assert.deepEqual(requested(await desk.requests()), ['book/undo']);
});

test('F-150: a step without an undo whose outcome is unknown is confirmed, and not requested as a new effect', async (context) => {
  const { desk, orderId, recover, answerNext } = await received(context, 'keep');
  await answerNext();
  const book = await desk.request();
  await desk.answer(book, failed('Lost', 'no answer', { outcomeUnknown: true }));
  assert.equal((await recover('order/order')).outcome, 'done');
  await answerNext();
  await answerNext();
  const [again, ...others] = await desk.requests();
  assert.deepEqual([again?.path, again?.idempotencyKey, others.length], ['order/book', book.idempotencyKey, 0]);
  await desk.answer(again as Request, ok({ shelf: 7 }));
  assert.equal((await desk.state(orderId)).outcome, 'completed');
});

test('F-150: a second recovery is refused while the first one undoes steps', async (context) => {
  const { desk, recover, answerNext } = await received(context);
  await answerNext();
  await answerNext();
  const shelve = (await desk.requests()).find(({ path }) => path.endsWith('shelve'));
  await desk.answer(shelve as Request, failed('Broken'));
  assert.equal((await recover('order/both')).outcome, 'done');
  const second = await recover('order/book');
  assert.partialDeepStrictEqual(second, { outcome: 'infeasible', refusals: [{ code: 'undo-running' }] });
  assert.deepEqual(requested(await desk.requests()).includes('book/undo'), false);
});

test('F-150: a recovery without a path undoes the whole order, also one that is at work, and the order ends as compensated', async (context) => {
  const { desk, orderId, recover, answerNext } = await received(context);
  await answerNext();
  await answerNext();
  assert.equal((await recover()).outcome, 'done');
  assert.deepEqual((await playedOut(desk)).slice(-2), ['book/undo', 'order/undo']);
  assert.equal((await desk.state(orderId)).outcome, 'compensated');
});

test('a recovery is refused with the place and the remedy, and changes nothing', async (context) => {
  const { desk, orderId, recover, answerNext } = await received(context);
  const { rev } = await desk.state(orderId);
  const refusalsOf = async (path?: string) => {
    const { outcome, ...rest } = await recover(path);
    assert.equal(outcome, 'infeasible');
    return 'refusals' in rest ? rest.refusals.map(({ code, path: at }) => [code, at]) : [];
  };
  assert.deepEqual(await refusalsOf('order/book'), [['nothing-to-do', 'order/book']]);
  assert.deepEqual(await refusalsOf('order/nowhere'), [['no-such-step', 'order/nowhere']]);
  assert.equal((await desk.state(orderId)).rev, rev);
  await answerNext();
  assert.equal((await recover()).outcome, 'done');
  assert.deepEqual(await refusalsOf(), [['undo-running', undefined]]);
});
