import { thawedDue } from './deadlines.ts';
import { addFacts, applyEvent, type Draft, patchRecord } from './draft.ts';
import { expiredHolderOf, hasLock, isLocked, lockHolderOf, personHolder, releasedHolder } from './lease.ts';

/** Moves the deadlines of an order by the time for which they stood still. If the lock is over, unlocks the order. */
export function afterStandstill(draft: Draft): Draft {
  const { record, instance, now } = draft;
  const { stillSince } = instance.state;
  const goesOn = isLocked(record, now);
  const until = Math.min(now, record.heldUntil ?? stillSince ?? now);
  const moved = stillSince === undefined ? draft : applyEvent(draft, { type: 'stoodStill', until, goesOn });
  if (!hasLock(record) || goesOn) return moved;
  const byMs = Math.max(0, until - (stillSince ?? until));
  const freed = patchRecord(moved, { heldBy: null, heldUntil: null, nextDueFor: thawedDue(record.nextDueFor, byMs) });
  const holder = expiredHolderOf(record) ?? lockHolderOf(record);
  return holder === undefined ? freed : addFacts(freed, [{ type: 'OrderUnlocked', by: holder, expired: true }]);
}

/** Locks the order for a person, or renews the lock. */
export function lockFor(
  draft: Draft,
  { by, reason, until }: { readonly by: string; readonly reason: string; readonly until: number },
): Draft {
  const held = patchRecord(draft, { heldBy: personHolder(by), heldUntil: until });
  return applyEvent(addFacts(held, [{ type: 'OrderLocked', by, reason, until }]), { type: 'locked' });
}

/** Ends the lock. The next write takes up the messages that came during it. */
export function unlock(draft: Draft, by: string): Draft {
  const released = patchRecord(draft, { heldBy: releasedHolder, heldUntil: draft.now });
  return addFacts(released, [{ type: 'OrderUnlocked', by }]);
}
