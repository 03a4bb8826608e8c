import type { StateRecord } from '#ports/records';
import { readableInstance, type StoredEntry, salvagedTail } from './instance.ts';

/** Returns the newest lines of the journal, even of a damaged record; undefined if some of them cannot be read. */
export function readableTail(record: StateRecord): readonly StoredEntry[] | undefined {
  const instance = readableInstance(record);
  if (instance) return instance.tail;
  const { entries, whole, seq = 0 } = salvagedTail(record.blob);
  return whole ? entries.map((entry, index) => ({ ...entry, seq: seq - entries.length + 1 + index })) : undefined;
}
