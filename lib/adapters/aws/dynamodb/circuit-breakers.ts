import type { Breakers } from '#ports/circuit-breaker';
import { absent, atRev } from './conditions.ts';
import type { StoreContext } from './context.ts';
import { breakerItem, breakerOf } from './items.ts';
import { keys } from './keys.ts';
import { get } from './reads.ts';
import { putIf } from './update-if.ts';

/** Stores the circuit breakers, one for each agent and each consumer. */
export const dynamoDbBreakers = ({ table, withRetries }: StoreContext): Breakers => ({
  async breaker(agent) {
    const item = await withRetries(() => get(table, keys.breaker(agent)));
    return item && breakerOf(item);
  },
  async putBreaker(breaker, loadedRev) {
    const answer = await withRetries(() => putIf(table, breakerItem(breaker), loadedRev === 0 ? absent : atRev(loadedRev)));
    return answer.outcome === 'written' ? answer : { outcome: 'refused', current: answer.current && breakerOf(answer.current) };
  },
});
