import type { Law } from './law.ts';

/**
 * S10: a call that was carried out is known again under its key, as long as its order exists. What is remembered of calls
 * lies in the state: where that was damaged, it is lost with it.
 */
export function repetitions(): Law {
  const damaged = new Set<string>();
  return {
    name: 'repetitions',
    after(happening) {
      if (happening.type === 'damaged') damaged.add(happening.orderId);
      if (happening.type !== 'repeated' || happening.outcome === 'replayed' || damaged.has(happening.orderId)) return undefined;
      return `${happening.key} to ${happening.orderId} was carried out, comes again, and is answered: ${happening.outcome}`;
    },
  };
}
