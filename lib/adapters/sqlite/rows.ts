import { UnreadableRecordError, unknownVersion } from '#ports/errors';
import type { OrderRecord, StateHead } from '#ports/records';

/** Returns the head of a state; throws UnreadableRecordError, which concerns this order alone. */
export function headOf(orderId: string, text: string): StateHead {
  const head = parsed<StateHead | null>(orderId, text);
  if (head?.schemaVersion !== 1) throw unknownVersion(orderId, head?.schemaVersion, head?.updatedAt);
  return head;
}

export const orderOf = (orderId: string, row: unknown): OrderRecord => parsed(orderId, (row as { record: string }).record);

export function parsed<T>(orderId: string, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new UnreadableRecordError(orderId, 'it is damaged');
  }
}
