import { unknownVersion } from '#ports/errors';
import type { OrderRecord, StateHead } from '#ports/records';
import { recordIn } from '#ports/util/json';

/** Returns the head of a state; throws UnreadableRecordError, which concerns this order alone. */
export function headOf(orderId: string, text: string): StateHead {
  const head = recordIn<StateHead | null>(orderId, text);
  if (head?.schemaVersion !== 1) throw unknownVersion(orderId, head?.schemaVersion, head?.updatedAt);
  return head;
}

export const orderOf = (orderId: string, row: unknown): OrderRecord => recordIn(orderId, (row as { record: string }).record);
