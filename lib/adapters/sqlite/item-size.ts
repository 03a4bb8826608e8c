import { StoreRefusesError } from '#ports/errors';
import { tableFigures } from '#ports/limits';

const { itemBytesMax } = tableFigures;

/** A database file takes more; but what runs on one machine is to run on AWS as well. Most are so short that nobody need count. */
export function refuseTooLarge(what: string, ...texts: readonly string[]): void {
  if (texts.reduce((sum, { length }) => sum + length, 0) * 3 <= itemBytesMax) return;
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > itemBytesMax) throw new StoreRefusesError(`${what} has ${bytes} bytes; at most ${itemBytesMax} are stored in one item.`);
}
