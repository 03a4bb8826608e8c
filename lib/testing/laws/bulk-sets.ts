import { isDeepStrictEqual } from 'node:util';
import type { FrozenSet } from '#roles/bulk/run';
import { type BulkRecord, bulkRecordsIn } from '#testing/world/bulk-records';
import { type Law, on } from './law.ts';

/** The chunks that the processes of a bulk run have written, by name, and the frozen set of the run. */
interface Known {
  readonly chunks: Map<string, Extract<BulkRecord, { what: 'chunk' }>>;
  frozen: FrozenSet | undefined;
}

/** The set of a bulk run stays as it was frozen, and no other order gets an outcome (S33). */
export function bulkSets(): Law {
  const sets = new Map<string, Known>();
  return {
    name: 'bulk sets',
    after: on(['bulk recorded', 'written'], (observation) => {
      for (const record of bulkRecordsIn(observation)) {
        const known = sets.get(record.id) ?? { chunks: new Map(), frozen: undefined };
        sets.set(record.id, known);
        const wrong = wrongWith(record, known);
        if (wrong !== undefined) return `bulk run ${record.id}: ${wrong}`;
      }
      return undefined;
    }),
  };
}

function wrongWith(record: BulkRecord, known: Known): string | undefined {
  const { chunks, frozen } = known;
  switch (record.what) {
    case 'chunk': {
      const before = chunks.get(record.name);
      chunks.set(record.name, record);
      const isChanged = frozen?.epoch === record.epoch && !isDeepStrictEqual(before?.orderIds, record.orderIds);
      return isChanged ? `its set changed from ${before?.orderIds.join(', ')} to ${record.orderIds.join(', ')}` : undefined;
    }
    case 'run': {
      const { set } = record.run;
      if (frozen) return isDeepStrictEqual(frozen, set) ? undefined : `its set of ${frozen.count} orders was frozen again`;
      known.frozen = set ?? undefined;
      const count = set ? ordersOf({ ...known, frozen: set }).length : 0;
      return set && set.count !== count ? `it has frozen ${count} orders, and says ${set.count}` : undefined;
    }
    case 'outcome': {
      const { orderId } = record.outcome;
      return ordersOf(known).includes(orderId) ? undefined : `order ${orderId} has an outcome, and is not in its set`;
    }
    case 'rest':
      return undefined;
  }
}

const ordersOf = ({ chunks, frozen }: Known): readonly string[] =>
  [...chunks.values()].filter(({ epoch }) => epoch === frozen?.epoch).flatMap(({ orderIds }) => orderIds);
