import { bulkRecordsIn } from '#testing/world/bulk-records';
import { type Law, on, type Setting, writerOf } from './law.ts';

/** A process may write an order for this long after its last read of the run, plus the time of one call of the store (`callMs`). */
const lookCountsMs = 2_000;
const callMs = 20;

/**
 * After a bulk run has stopped, no process begins another order of it. A process that read the run before the stop may still write orders
 * for `lookCountsMs` (S35).
 */
export function bulkStops({ now }: Pick<Setting, 'now'>): Law {
  const stoppedAt = new Map<string, number>();
  /** Time of the last clock jump, by process. A process cannot measure a time that spans a jump. */
  const jumpedAt = new Map<string, number>();
  return {
    name: 'bulk stops',
    after: on(['bulk recorded', 'written', 'clock jumps'], (observation) => {
      if (observation.type === 'clock jumps') {
        jumpedAt.set(observation.host, now());
        return undefined;
      }
      const writer = observation.type === 'written' ? writerOf(observation.after) : undefined;
      for (const record of bulkRecordsIn(observation)) {
        if (record.what === 'run' && record.run.state === 'stopped' && !stoppedAt.has(record.id)) stoppedAt.set(record.id, now());
        if (record.what !== 'outcome') continue;
        const at = stoppedAt.get(record.id) ?? now();
        const hasJumped = writer !== undefined && (jumpedAt.get(writer) ?? 0) >= at - lookCountsMs;
        if (now() - at > lookCountsMs + callMs && !hasJumped && record.outcome.outcome === 'applied')
          return `order ${record.outcome.orderId} got the instruction of bulk run ${record.id} ${now() - at} ms after the run had stopped`;
      }
      return undefined;
    }),
  };
}
