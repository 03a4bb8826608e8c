import { defineAgent, fault, operation } from 'redress';
import * as z from 'zod';

export const Refused = fault('Refused');
export const OutOfStock = fault('OutOfStock', Refused);
export const CardDeclined = fault('CardDeclined', Refused);
export const NoRoom = fault('NoRoom', Refused);

const About = z.object({ what: z.string() });
/** The id of the effect. */
const Done = z.object({ id: z.string() });

const nobody = (): never => {
  throw new Error('A crash test answers instead.');
};
const doing = { input: About, output: Done, attemptsMax: 2, run: nobody };
const undoing = operation({ input: Done, output: z.object({}), run: nobody });

export const stock = defineAgent('stock', { reserve: operation({ ...doing, faults: [OutOfStock] }), release: undoing });
export const bank = defineAgent('bank', { charge: operation({ ...doing, faults: [CardDeclined] }), refund: undoing });
export const hotel = defineAgent('hotel', { book: operation({ ...doing, faults: [NoRoom] }), cancel: undoing });
export const mail = defineAgent('mail', { tell: operation(doing) });
export const carrier = defineAgent('carrier', { ship: operation({ ...doing, longestSeconds: 40, cancel: nobody }), recall: undoing });
export const ledger = defineAgent('ledger', {
  enter: operation({ ...doing, atMostOnce: true, lookup: nobody }),
  /** Only a person can say whether it was done. */
  post: operation({ ...doing, atMostOnce: true }),
  strike: undoing,
});

export const agents = [stock, bank, hotel, mail, carrier, ledger];
