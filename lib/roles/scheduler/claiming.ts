import type { StateRecord } from '#ports/records';
import { thawedDue } from './deadlines.ts';
import { applyEvent, type Draft, patchRecord, takeClaim } from './draft.ts';
import { blockLikeRecord } from './supervisor-notes.ts';

/** Moves a Pending order to Processing in one write: claims it, then starts it or continues it after a reset. */
export function claim(draft: Draft): Draft {
  const claimed = takeClaim(draft);
  return claimed.instance.state.phase === 'initialized' ? start(claimed) : applyEvent(claimed, { type: 'reclaimed' });
}

export function start(draft: Draft): Draft {
  const called = draft.loaded.order.caller ? { called: true as const } : {};
  return applyEvent(draft, { type: 'started', stepMs: draft.record.stepMs, ...called });
}

/** Resumes the order, and claims it if it is unclaimed. If it went into Error while it was suspended, it becomes blocked. */
export function resume(draft: Draft): Draft {
  const { phase, suspendedAt = draft.now } = draft.instance.state;
  const nextDueFor = thawedDue(draft.record.nextDueFor, Math.max(0, draft.now - suspendedAt));
  const thawed = patchRecord(draft, { suspended: false, nextDueFor });
  const isFree = isUnclaimed(thawed.record);
  if (isFree && phase === 'initialized') return claim(thawed);
  const resumed = applyEvent(isFree ? takeClaim(thawed) : thawed, { type: 'resumed' });
  return blockLikeRecord(isFree ? applyEvent(resumed, { type: 'reclaimed' }) : resumed);
}

/** Whether a scheduler may claim the order: it is Pending, unclaimed and not suspended. */
export const isUnclaimed = ({ processState, lockedBy, suspended }: StateRecord): boolean =>
  processState === 'Pending' && lockedBy === null && !suspended;
