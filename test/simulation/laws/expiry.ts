import type { Law } from './law.ts';

/** S15, S16: an expiry counts once, never before its time, however many supervisors look. */
export function expiry(toleranceMs: number): Law {
  const counted = new Set<string>();
  return {
    name: 'expiry',
    after(happening) {
      if (happening.type !== 'written' || !happening.before) return undefined;
      const { before, after } = happening;
      const { orderId } = after;
      if (after.failureCount > before.failureCount + 1)
        return `${orderId} counts ${after.failureCount - before.failureCount} failures at once`;
      if (after.failureCount <= before.failureCount) return undefined;
      const due = `${orderId} ${before.epoch} ${before.nextDueFor?.path ?? ''} ${before.nextDueAt}`;
      if (counted.has(due)) return `${orderId} counts the same expiry twice: ${due}`;
      counted.add(due);
      if (before.nextDueAt !== null && before.nextDueAt + toleranceMs > after.updatedAt)
        return `${orderId} counts an expiry before its time`;
      return undefined;
    },
  };
}
