import { collections, type Document } from '#ports/documents';
import { outcomeIn, runIn, type StoredOutcome } from '#roles/bulk/documents';
import type { BulkRun } from '#roles/bulk/run';
import type { Observation } from './observation.ts';

type OfBulk = Extract<Observation, { type: 'bulk recorded' | 'written' }>;

/** A document of a bulk run. */
export type BulkRecord =
  | { readonly what: 'run'; readonly id: string; readonly run: BulkRun }
  /** A chunk of the set. `epoch`: the number of the process that wrote it. */
  | { readonly what: 'chunk'; readonly id: string; readonly epoch: number; readonly name: string; readonly orderIds: readonly string[] }
  | { readonly what: 'outcome'; readonly id: string; readonly outcome: StoredOutcome }
  | { readonly what: 'rest'; readonly id: string };

export const isOfBulkRun = ({ collection }: Document): boolean => collection.startsWith(collections.bulk(''));

/** Returns the documents of bulk runs that an observed write has stored. */
export const bulkRecordsIn = (observation: OfBulk): readonly BulkRecord[] =>
  (observation.type === 'written' ? (observation.documents ?? []) : [observation.document]).filter(isOfBulkRun).map(bulkRecordOf);

function bulkRecordOf(document: Document): BulkRecord {
  const id = document.collection.slice(collections.bulk('').length);
  const [kind = '', epoch = ''] = document.id.split('#');
  if (kind === 'RUN') return { what: 'run', id, run: runIn(document) };
  if (kind === 'OUT') return { what: 'outcome', id, outcome: outcomeIn(document) };
  if (kind !== 'SET') return { what: 'rest', id };
  const orders = document.content['orders'] as readonly (readonly [string, number, number])[];
  return { what: 'chunk', id, epoch: Number(epoch), name: document.id, orderIds: orders.map(([orderId]) => orderId) };
}
