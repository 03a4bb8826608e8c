import type { BulkRun } from '#roles/bulk/run';
import { bulkRecordsIn } from '#testing/world/bulk-records';
import type { History } from '#testing/world/history';
import type { Observation } from '#testing/world/observation';
import { type Law, on } from './law.ts';

/** Names of a run and an order, in one text. */
type Names = string;

interface Known {
  readonly runs: Map<string, BulkRun>;
  /** The outcome of each order, and the orders that have the instruction of a run according to their journals. */
  readonly outcomes: Map<Names, string>;
  readonly given: Set<Names>;
}

/**
 * An order of a bulk run has at most one outcome, and its journal has the instruction of the run at most once: exactly if the outcome is
 * `applied`, in the same write (S34).
 */
export function bulkOutcomes(): Law {
  const known: Known = { runs: new Map(), outcomes: new Map(), given: new Set() };
  return {
    name: 'bulk outcomes',
    after: on(['bulk recorded', 'written'], (observation, history) => {
      const applied: string[] = [];
      for (const record of bulkRecordsIn(observation)) {
        if (record.what === 'run') known.runs.set(record.id, record.run);
        if (record.what !== 'outcome') continue;
        const { orderId, outcome } = record.outcome;
        const before = known.outcomes.get(`${record.id} ${orderId}`);
        const wrong = (what: string): string => `order ${orderId} ${what} in bulk run ${record.id}`;
        if (before !== undefined) return wrong(`has the outcome ${outcome} after ${before}`);
        known.outcomes.set(`${record.id} ${orderId}`, outcome);
        if (outcome === 'applied') applied.push(record.id);
        const place = observation.type === 'written' ? 'in' : 'outside';
        if ((outcome === 'applied') !== (place === 'in')) return wrong(`has the outcome ${outcome} ${place} a write of the order`);
      }
      return observation.type === 'written' ? wrongInJournal(observation, applied, { ...known, history }) : undefined;
    }),
  };
}

/** Returns how the lines that a write added to the journal of its order differ from the outcomes in the same write. */
function wrongInJournal(
  { after: { orderId } }: Extract<Observation, { type: 'written' }>,
  applied: readonly string[],
  { runs, given, history }: Known & { readonly history: History },
): string | undefined {
  const order = history.orders.get(orderId);
  // The journal of a damaged order proves nothing.
  if (!order || order.damagedAt !== undefined) return undefined;
  const inJournal = order.newFacts.flatMap((fact) => {
    if (fact.type !== 'InstructionGiven') return [];
    const run = [...runs.values()].find(({ by, reason }) => by === fact.by && reason === fact.reason);
    return run ? [run.id] : [];
  });
  const twice = inJournal.find((id) => given.has(`${id} ${orderId}`));
  if (twice !== undefined) return `order ${orderId} has the instruction of bulk run ${twice} twice`;
  for (const id of inJournal) given.add(`${id} ${orderId}`);
  const [written, recorded] = [inJournal.join(', '), applied.join(', ')];
  return written === recorded
    ? undefined
    : `order ${orderId}: its journal has the instruction of ${written || 'no bulk run'}, its outcomes that of ${recorded || 'none'}`;
}
