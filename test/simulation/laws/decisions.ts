import type { Law } from './law.ts';

/** S4, L10: a decision is carried out on what was looked at, or not at all. */
export const decisions = (): Law => ({
  name: 'decisions',
  after(happening) {
    if (happening.type !== 'decided' || happening.became === happening.saw + 1) return undefined;
    return `${happening.orderId} was decided on as of rev ${happening.saw}, and this was carried out as rev ${happening.became}`;
  },
});
