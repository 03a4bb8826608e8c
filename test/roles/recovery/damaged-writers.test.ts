import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queueNames, type Request } from '#ports/messages';
import { failed, ok, timePasses } from '../support.ts';
import { foundIn, received, told } from './warehouse.ts';

/** The damage to the record of the order that has undone its write, and the number of undone writes that the reader learns of. */
const damages = [
  { part: 'state', change: `replace(blob, '"activities"', '"lost"')`, learned: 1 },
  { part: 'history', change: `replace(blob, '"tail":[{', '"tail":[?')`, learned: 0 },
] as const;

for (const { part, change, learned } of damages)
  test(`F-152: readers of an undone write learn of it ${learned} times if the ${part} of the writing order is damaged, and the message leaves its queue`, async (context) => {
    const { desk, receipt, sale, pack } = await received(context);
    const instruction = { kind: 'recover', by: 'olga', reason: 'wrong papers', path: 'order/book' } as const;
    await timePasses(desk.clock, desk.system.scheduler.instruct(receipt, instruction, { id: 'i1' }));
    await desk.answer(pack, failed('Stopped'));
    const undo = (await desk.requests()).find(({ operation }) => operation === 'unbook');
    await desk.answer(undo as Request, ok({}));
    desk.database.prepare(`UPDATE states SET blob = ${change} WHERE id = (SELECT id FROM orders WHERE orderId = ?)`).run(receipt);
    await told(desk);
    assert.equal(await foundIn(desk, sale), learned);
    const { visible, inFlight } = await desk.queues.depth(queueNames.submissions);
    assert.equal(visible + inFlight, 0, 'the message about the undo waits on the queue');
  });
