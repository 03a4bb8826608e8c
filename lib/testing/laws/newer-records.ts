import { type Law, on } from './law.ts';

/** A program never writes a record of a newer version (S20, X-35). */
export function newerRecords(): Law {
  /** Orders whose record a newer program has written. */
  const newer = new Set<string>();
  return {
    name: 'newer records',
    after: on(['newer', 'written'], (observation) => {
      if (observation.type === 'newer' && observation.isNewer) newer.add(observation.orderId);
      if (observation.type === 'newer' && !observation.isNewer) newer.delete(observation.orderId);
      if (observation.type !== 'written' || !newer.has(observation.after.orderId)) return undefined;
      return `order ${observation.after.orderId}: an older release wrote the record of a newer one`;
    }),
  };
}
