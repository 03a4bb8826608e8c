import { StoreRefusesError } from '#ports/errors';
import { tableFigures } from '#ports/limits';

const { itemBytesMax } = tableFigures;

/**
 * Throws StoreRefusesError above DynamoDB's item limit, so that an order which fits on one machine also fits on AWS. For short texts the
 * exact count is skipped.
 */
export function refuseTooLarge(what: string, ...texts: readonly string[]): void {
  if (texts.reduce((sum, { length }) => sum + length, 0) * 3 <= itemBytesMax) return;
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > itemBytesMax)
    throw new StoreRefusesError(
      `${what} has ${bytes} bytes. The limit for one item is ${itemBytesMax} bytes. Pass references instead of large data.`,
    );
}

/** Returns a part of an order as JSON text. Throws StoreRefusesError above the limit. */
export function fittingText(what: string, orderId: string, value: object): string {
  const text = JSON.stringify(value);
  refuseTooLarge(`${what} of order ${orderId}`, text);
  return text;
}
