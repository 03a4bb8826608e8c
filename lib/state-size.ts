import { limits } from './core/definition.ts';
import { type Json, utf8Bytes } from './core/json.ts';
import { tableFigures } from './deployed.ts';
import type { Instance } from './instance.ts';
import type { Loaded } from './planned.ts';
import type { StateRecord } from './record.ts';

/**
 * Where a state item is too large, the bytes that are left for the core's state and what the journal says of this write;
 * undefined where it is not. All else lies in the item as well: the journal's tail, and what is to be told outside.
 */
export function roomIn(record: StateRecord, instance: Instance, { instance: before }: Pick<Loaded, 'instance'>): number | undefined {
  const bytes = bytesOf(record);
  if (bytes <= limits.stateBytesMax) return undefined;
  const added = instance.tail.filter(({ seq }) => seq > before.seq);
  return limits.stateBytesMax - (bytes - utf8Bytes([instance.state, added] as unknown as Json));
}

/** More than can be stored, whatever is left out. */
export const isImpossible = (record: StateRecord): boolean => bytesOf(record) > limits.stateBytesMax + tableFigures.stateReserveBytes;

/** Most are so short that nobody need count: a UTF-16 unit makes three bytes at the most. */
function bytesOf({ blob, ...head }: StateRecord): number {
  if (blob.length * 3 < limits.stateBytesMax / 2) return 0;
  return Buffer.byteLength(blob) + utf8Bytes(head as unknown as Json);
}
