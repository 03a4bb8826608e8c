import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cardsIn, confirmedIn, eraseAll, openedWithFile, openShop, ordersInTrouble, storedIn } from '../../test/support/stored-secrets.ts';
import { type Figure, measured } from './figure.ts';

const forms = { full: 1_000, short: 50 } as const;

/** A9: the records that orders in trouble leave behind hold no card number. */
export const figure: Figure = {
  shows: 'no card is stored in any form, no stored hash confirms one, and after an erasure no key opens one',
  async measure({ form, progress }) {
    const count = forms[form];
    const folder = mkdtempSync(join(tmpdir(), 'redress-secrets-'));
    const cleanups: (() => unknown)[] = [];
    try {
      const desk = openShop({ after: (cleanup) => void cleanups.push(cleanup as () => unknown) }, folder);
      const trouble = await ordersInTrouble(count, desk);
      progress(`${trouble.orders.length} orders`);
      const cards = trouble.orders.map(({ card }) => card);
      const stored = storedIn(folder, desk);
      const found = cardsIn(stored, [...cards, ...trouble.others]);
      const guesses = trouble.orders.flatMap((order) => order.guesses);
      const confirmed = confirmedIn(stored, guesses);
      progress('searched');
      const erased = await eraseAll(trouble);
      const opened = cardsIn(openedWithFile(folder, storedIn(folder, desk), desk), cards);
      return measured(
        [
          ...(trouble.orders.length < count ? [`only ${trouble.orders.length} of ${count} orders were stored`] : []),
          ...(found.length > 0 ? [`${found.length} cards are stored`] : []),
          ...(confirmed.length > 0 ? [`hashes confirm ${confirmed.length} texts`] : []),
          ...(erased < count ? [`only ${erased} orders were erased`] : []),
          ...(opened.length > 0 ? [`after the erasure the key file opens ${opened.length} cards`] : []),
        ],
        { orders: count, otherMessages: trouble.others.length, bytes: stored.length, guesses: guesses.length, erased },
      );
    } finally {
      for (const cleanup of cleanups) await cleanup();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
