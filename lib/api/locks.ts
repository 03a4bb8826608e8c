import type * as z from 'zod';
import { InstanceLockedError, UnreadableRecordError } from '#ports/errors';
import { timeText } from '#ports/messages';
import type { StateHead } from '#ports/records';
import type { Locked } from '#roles/operator/locking';
import { lockHolderOf } from '#roles/scheduler/lease';
import { audited } from './audited.ts';
import { etagOf } from './orders.ts';
import { conflict, lockedUntil, type Refusal, refuse } from './problem.ts';
import { type Answer, type Call, json } from './route.ts';
import type { LockBody } from './schemas/locks.ts';
import { seesAll } from './views.ts';

/** Locks an order for the operator, or renews the lock. */
export function lockOrder(call: Call<unknown, unknown, z.output<typeof LockBody>>): Promise<Answer | Refusal> {
  const { api, caller, requestId, id, body } = call;
  const { seconds, reason } = body;
  return orRefusal(call, async () => {
    const locked = await audited(
      call,
      { kind: 'lock', target: id, action: 'lock', reason },
      (entry) =>
        api.scheduler.locking.lock(id, {
          id: requestId,
          by: caller.subject,
          seconds,
          reason,
          beside: (before, after) => entry(lockView(before), lockView(after)),
        }),
      ({ outcome }) => outcome === 'locked',
    );
    if (locked.outcome !== 'locked') return refusalOf(locked);
    const { rev, until } = locked;
    return json(
      200,
      { orderId: id, rev, heldBy: caller.subject, lockedUntil: timeText(until) },
      { orderId: id, headers: { etag: etagOf(rev) } },
    );
  });
}

/** Ends the lock of an order: the operator's own, or anyone's for an admin. */
export function unlockOrder(call: Call): Promise<Answer | Refusal> {
  const { api, caller, requestId, id } = call;
  return orRefusal(call, async () => {
    const unlocked = await audited(
      call,
      { kind: 'lock', target: id, action: 'unlock', reason: null },
      (entry) =>
        api.scheduler.locking.unlock(id, {
          id: requestId,
          by: caller.subject,
          anyones: caller.roles.has('admin'),
          beside: (before) => entry(lockView(before), null),
        }),
      ({ outcome }) => outcome === 'unlocked',
    );
    return unlocked.outcome === 'unlocked' || unlocked.outcome === 'free' ? { status: 204, text: '', orderId: id } : refusalOf(unlocked);
  });
}

/** Refuses a call while a host or a person holds the order. Operators see who holds it and until when; clients get `Retry-After` alone. */
export const lockedFor = ({ api, caller }: Pick<Call, 'api' | 'caller'>, { heldUntil, person }: InstanceLockedError): Refusal =>
  lockedUntil(heldUntil, api.clock.now(), seesAll(caller) ? { heldBy: person ?? null, lockedUntil: timeText(heldUntil) } : undefined);

const lockView = (head: StateHead) => ({
  heldBy: lockHolderOf(head) ?? null,
  lockedUntil: head.heldUntil === null ? null : timeText(head.heldUntil),
});

const refusalOf = ({ outcome }: Locked): Refusal =>
  outcome === 'not-found' ? refuse('not-found') : conflict(['The order is finished: there is nothing to lock.']);

/** Turns a held lease and an unreadable record into refusals. */
export async function orRefusal(call: Call<unknown, unknown, unknown>, work: () => Promise<Answer | Refusal>): Promise<Answer | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InstanceLockedError) return lockedFor(call, error);
    // During a rollout, a process of the newer version can carry the call out: the API answers 503.
    if (error instanceof UnreadableRecordError && (error.newerUntil ?? 0) <= call.api.clock.now())
      return conflict([`The record of the order cannot be read: ${error.reason}.`]);
    throw error;
  }
}
