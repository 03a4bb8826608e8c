import type { Clock } from '#ports/clock';
import type { Request } from '#ports/messages';

/** Reason for aborts after an answer. Without a reason, every abort creates an exception with an unused stack. */
export const answered = 'answered';

/** Abort reason of an operation whose request was canceled. */
export class RequestCanceled extends Error {
  override readonly name = 'RequestCanceled';
}

export interface Deadline {
  /** Aborts at the deadline, when the host stops, and when the request is canceled. */
  readonly signal: AbortSignal;
  /** Rejects at the deadline and when the host stops. A cancellation does not reject it, because the outcome must be known. */
  readonly passed: Promise<never>;
  at(): number;
  isOver(): boolean;
  extend(until: number): void;
  stop(): void;
}

/**
 * Starts the deadline of a request: the earlier of `completeBy` and the end of the remaining time, because the clock of the scheduler or of
 * this host may be wrong.
 */
export function startDeadline(
  { completeBy, remainingMs }: Request,
  clock: Clock,
  stopping: AbortSignal | undefined,
  canceled: AbortSignal,
): Deadline {
  const controller = new AbortController();
  const stopped = new AbortController();
  /** Stays true after the deadline: a clock that is set back does not extend it. */
  let hasPassed = false;
  let at = Math.min(Date.parse(completeBy), clock.now() + remainingMs);
  const { promise: passed, reject } = Promise.withResolvers<never>();
  passed.catch(() => undefined);
  const abort = () => {
    const reason = new Error('This request ends here: its time is over, or its host stops.');
    controller.abort(reason);
    reject(reason);
  };
  const cancel = () => controller.abort(new RequestCanceled('This request is canceled.'));
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted && clock.now() < at) await clock.sleep(at - clock.now(), stopped.signal);
    if (stopped.signal.aborted) return;
    hasPassed = true;
    abort();
  };
  stopping?.addEventListener('abort', abort, { once: true });
  if (canceled.aborted) cancel();
  else canceled.addEventListener('abort', cancel, { once: true });
  void watch();
  return {
    signal: controller.signal,
    passed,
    at: () => at,
    isOver: () => hasPassed || clock.now() >= at,
    extend: (until) => {
      at = Math.max(at, until);
    },
    stop: () => {
      stopped.abort(answered);
      stopping?.removeEventListener('abort', abort);
    },
  };
}
