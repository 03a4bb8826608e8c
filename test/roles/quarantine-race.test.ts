import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreRefusesError } from '#ports/errors';
import { lineOf, openDesk, stepsNamed, submitted } from './support.ts';

test('X-48, F-58: when another write comes before the quarantine of an order, the scheduler applies the reply to the record of that write, and the order is in Error', async (context) => {
  let refused = 0;
  let isRaced = false;
  const desk = openDesk(context, lineOf(stepsNamed('pick')), {
    around: ({ store }) => ({
      store: {
        ...store,
        // DynamoDB refuses the write that records the reply; another host writes before the quarantine.
        async update(state, when, along) {
          if (state.outcome !== 'completed') return store.update(state, when, along);
          refused += 1;
          throw new StoreRefusesError('DynamoDB refuses the write: the item is too large.');
        },
        async patch(head, when) {
          if (refused === 1 && !isRaced) {
            isRaced = true;
            const found = (await store.head(head.orderId)) ?? assert.fail();
            await store.patch({ ...found, rev: found.rev + 1 }, found);
          }
          return store.patch(head, when);
        },
      },
    }),
  });
  const orderId = await submitted(desk);
  await desk.answer(await desk.request());
  const { processState, fault } = await desk.state(orderId);
  assert.deepEqual([processState, fault?.type, refused], ['Error', 'InvariantViolated', 2]);
});
