import { type Law, on } from './law.ts';

/** S20, X-35: what a newer program has written is left as it is by one that does not know it. */
export function newer(): Law {
  const kept = new Set<string>();
  return {
    name: 'newer',
    after: on(['newer', 'written'], (observation) => {
      if (observation.type === 'newer' && observation.isNewer) kept.add(observation.orderId);
      if (observation.type === 'newer' && !observation.isNewer) kept.delete(observation.orderId);
      if (observation.type !== 'written' || !kept.has(observation.after.orderId)) return undefined;
      return `${observation.after.orderId} is written by a program that does not know its record`;
    }),
  };
}
