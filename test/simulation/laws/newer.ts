import { type Law, on } from './law.ts';

/** S20, X-35: what a newer program has written is left as it is by one that does not know it. */
export function newer(): Law {
  const kept = new Set<string>();
  return {
    name: 'newer',
    after: on(['newer', 'written'], (happening) => {
      if (happening.type === 'newer' && happening.isNewer) kept.add(happening.orderId);
      if (happening.type === 'newer' && !happening.isNewer) kept.delete(happening.orderId);
      if (happening.type !== 'written' || !kept.has(happening.after.orderId)) return undefined;
      return `${happening.after.orderId} is written by a program that does not know its record`;
    }),
  };
}
