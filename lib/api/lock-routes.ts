import { lockOrder, unlockOrder } from './locks.ts';
import { type Route, route } from './route.ts';
import { LockBody, LockedOrder } from './schemas/locks.ts';

/** The calls with which an operator works on an order alone. */
export const lockRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/orders/{id}/lock',
    roles: ['operator'],
    summary: 'Lock an order: until the lock ends, nobody else changes it, and its deadlines stand still',
    body: LockBody,
    answers: { 200: { description: 'The order is locked. Its ETag is new. The same call renews the lock.', schema: LockedOrder } },
    refusals: ['not-found', 'conflict', 'locked'],
    handle: lockOrder,
  }),
  route({
    method: 'DELETE',
    path: '/orders/{id}/lock',
    roles: ['operator'],
    summary: 'Unlock an order: the holder of the lock, or an admin, ends the lock',
    answers: { 204: { description: 'The order has no lock. Messages that were kept because of the lock are applied within a second.' } },
    refusals: ['not-found', 'conflict', 'locked'],
    handle: unlockOrder,
  }),
];
