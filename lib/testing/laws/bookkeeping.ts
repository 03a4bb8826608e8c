import { type Law, on } from './law.ts';

/** The roles that record what happens to tasks: who has claimed a task, and who has heard of it. */
const bookkeepers: ReadonlySet<string> = new Set(['notifier', 'desk']);

/** A claim, a comment or a reminder of a task never changes the order, so the ETag that a person has read stays valid (S44). */
export const bookkeeping = (): Law => ({
  name: 'bookkeeping',
  after: on(['written'], ({ after, role }) =>
    role !== undefined && bookkeepers.has(role)
      ? `order ${after.orderId} was written by the ${role}, which must never change an order`
      : undefined,
  ),
});
