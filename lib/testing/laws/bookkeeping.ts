import { type Law, on } from './law.ts';

/** The roles that keep the books of tasks: who has claimed one, who has heard of it. */
const bookkeepers: ReadonlySet<string> = new Set(['notifier', 'desk']);

/** Bookkeeping never changes an order: what a person decided on with `If-Match` still holds after a claim, a comment or a reminder (S44). */
export const bookkeeping = (): Law => ({
  name: 'bookkeeping',
  after: on(['written'], ({ after, role }) =>
    role !== undefined && bookkeepers.has(role)
      ? `order ${after.orderId} was written by the ${role}, which only keeps the books`
      : undefined,
  ),
});
