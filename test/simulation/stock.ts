import { defineAgent, fault, operation } from 'redress';
import * as z from 'zod';

export const Refused = fault('Refused');
export const OutOfStock = fault('OutOfStock', Refused);

/** The stricter deployment refuses an input with `tooMuch`: see `stricter.ts`. */
export const About = z.object({ what: z.string(), tooMuch: z.literal(false).optional() });
/** The name of the effect: the idempotency key of its request. */
export const Effect = z.object({ id: z.string() });
/** The length of the text that the warehouse returns. */
export const Bulk = z.object({ characters: z.number() });
const Text = z.object({ id: z.string(), text: z.string() });
const Lot = z.object({ lot: z.string() });
const Move = z.object({ lot: z.string(), to: z.string() });
/** The shelf that the warehouse has chosen: see `shelfOf`. */
const Place = z.object({ id: z.string(), shelf: z.string() });

export const nobody = (): never => {
  throw new Error('Nobody stands behind these operations: see `appOn`.');
};
export const undoing = operation({ input: Effect, output: Effect, run: nobody });

/** The agent of the warehouse. `book`, `take`, `move` and `check` name the objects that they read and write: see `objects.ts`. */
export const stock = defineAgent('stock', {
  reserve: operation({ input: About, output: Effect, faults: [OutOfStock], run: nobody }),
  release: undoing,
  describe: operation({ input: Bulk, output: Text, run: nobody }),
  book: operation({ input: Lot, output: Place, faults: [OutOfStock], writes: ['lot/{lot}', 'shelf/{shelf}'], run: nobody }),
  take: operation({ input: Lot, output: Place, faults: [OutOfStock], reads: ['lot/{lot}', 'shelf/{shelf}'], run: nobody }),
  move: operation({ input: Move, output: Effect, reads: ['lot/{lot}'], writes: ['lot/{to}'], run: nobody }),
  check: operation({ input: Lot, output: Effect, reads: ['lot/{lot}'], run: nobody }),
});

/** Returns the shelf for the effect under a key. */
export const shelfOf = (key: string): string => String([...key].reduce((sum, character) => sum + character.charCodeAt(0), 0) % 4);

/** The objects that an effect of the warehouse has read and written, by its own books. The names are written out here once more. */
export function usesOf(
  operation: string,
  key: string,
  input: unknown,
): { readonly reads: readonly string[]; readonly writes: readonly string[] } {
  const { lot = '', to = '' } = input as { readonly lot?: string; readonly to?: string };
  switch (operation) {
    case 'stock.book':
      return { reads: [], writes: [`lot/${lot}`, `shelf/${shelfOf(key)}`] };
    case 'stock.take':
      return { reads: [`lot/${lot}`, `shelf/${shelfOf(key)}`], writes: [] };
    case 'stock.move':
      return { reads: [`lot/${lot}`], writes: [`lot/${to}`] };
    case 'stock.check':
      return { reads: [`lot/${lot}`], writes: [] };
    default:
      return { reads: [], writes: [] };
  }
}
