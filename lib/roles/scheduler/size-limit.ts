import { type Json, utf8Bytes } from '#core/data/json';
import { limits } from '#core/definition/definition';
import type { ByteBudget } from '#core/engine/transition';
import { StateTooLargeError } from '#ports/errors';
import { tableFigures } from '#ports/limits';
import type { StateRecord } from '#ports/records';
import type { Page } from '#ports/store';
import { encodeInstance, type Instance, type JournalEntry } from './instance.ts';
import { savedBytes } from './short-form.ts';

/** A record with its encoded instance, and the journal pages of the same write. */
export interface Fitted {
  readonly record: StateRecord;
  readonly overflow: readonly Page[];
}

/** Encodes the instance. If the state is too large, the end of the journal moves to pages. */
export function fitted(head: StateRecord, instance: Instance): Fitted {
  const record = { ...head, blob: encodeInstance(instance) };
  if (bytesOf(record, instance) <= limits.stateBytesMax || instance.tail.length === 0) return { record, overflow: [] };
  return { record: { ...record, blob: encodeInstance({ ...instance, tail: [] }) }, overflow: pagesOf(instance.tail) };
}

/** Splits entries into pages of at most as many bytes as a state may have. */
function pagesOf(tail: readonly JournalEntry[]): readonly Page[] {
  const pages: JournalEntry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const entry of tail) {
    const more = utf8Bytes(entry as unknown as Json) + 1;
    if (bytes + more > limits.stateBytesMax) {
      pages.push([]);
      bytes = 0;
    }
    pages.at(-1)?.push(entry);
    bytes += more;
  }
  return pages as unknown as readonly Page[];
}

/** Returns the bytes that the core's state and the journal may have, or undefined when the write is not too large. */
export function byteBudgetOf({ record, overflow }: Fitted, instance: Instance): ByteBudget | undefined {
  const bytes = bytesOf(record, instance);
  if (bytes <= limits.stateBytesMax && journalBytesOf(overflow) <= limits.journalBytesMax) return undefined;
  return { state: limits.stateBytesMax - (bytes - utf8Bytes(instance.state as unknown as Json)), journal: limits.journalBytesMax };
}

/** @throws StateTooLargeError when the write cannot be stored, even in pages. */
export function refuseImpossible({ record, overflow }: Fitted): void {
  const { orderId } = record;
  const { stateReserveBytes, itemBytesMax } = tableFigures;
  if (record.blob.length * 3 > limits.stateBytesMax && storedBytesOf(record) > limits.stateBytesMax + stateReserveBytes)
    throw new StateTooLargeError(
      `The state of order ${orderId} would exceed ${limits.stateBytesMax} bytes. Return references instead of large outputs from its steps.`,
    );
  if (journalBytesOf(overflow) > limits.journalBytesMax + stateReserveBytes || overflow.some((page) => utf8Bytes(page) > itemBytesMax))
    throw new StateTooLargeError(
      `One write of order ${orderId} would add more than ${limits.journalBytesMax} bytes to its history. Return references from its steps, or move a part of the work to a called order.`,
    );
}

const journalBytesOf = (overflow: readonly Page[]): number => overflow.reduce((sum, page) => sum + utf8Bytes(page), 0);

/**
 * Returns the stored bytes, with all steps in their long form; 0 for a blob that is too short to reach the limit. A UTF-16 unit has at
 * most three bytes, and a short form at least a sixth of its long form.
 */
function bytesOf(record: StateRecord, { state }: Instance): number {
  return record.blob.length * 6 < limits.stateBytesMax ? 0 : storedBytesOf(record) + savedBytes(state.activities);
}

const storedBytesOf = ({ blob, ...head }: StateRecord): number => Buffer.byteLength(blob) + utf8Bytes(head as unknown as Json);
