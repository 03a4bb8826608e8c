import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cardsIn, confirmedIn, eraseAll, openedWithFile, openShop, ordersInTrouble, storedIn } from '../support/stored-secrets.ts';
import { temporaryFolder } from './support.ts';

test('A9, S24: no card of fifty orders in trouble is stored in a readable form, no stored hash confirms a card, and after an erasure no key opens one', async (context) => {
  const folder = temporaryFolder(context);
  const trouble = await ordersInTrouble(50, openShop(context, folder));
  const { desk, orders, others } = trouble;
  assert.equal(orders.length, 50);
  const cards = orders.map(({ card }) => card);
  const stored = storedIn(folder, desk);
  assert.deepEqual(cardsIn(stored, [...cards, ...others]), []);
  assert.deepEqual(
    confirmedIn(
      stored,
      orders.flatMap(({ guesses }) => guesses),
    ),
    [],
  );
  assert.equal(cardsIn(openedWithFile(folder, stored, desk), cards).length, 50, 'the key file opens all of them before the erasure');
  assert.equal(await eraseAll(trouble), 50);
  const left = storedIn(folder, desk);
  assert.deepEqual(cardsIn(openedWithFile(folder, left, desk), cards), []);
});
