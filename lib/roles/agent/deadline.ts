import type { Clock } from '#ports/clock';
import type { Request } from '#ports/messages';

/** A reason of its own: without one, every abort makes an exception with a stack that nobody reads. */
export const answered = 'answered';

/** Why the signal of an operation is aborted that nobody wants any more. */
export class RequestCanceled extends Error {
  override readonly name = 'RequestCanceled';
}

export interface Deadline {
  /** Aborted when the time is over, when the host stops, and when the work is canceled. */
  readonly signal: AbortSignal;
  /** Rejects when nobody waits for the work any longer: not when it is canceled, for what it has done must be known. */
  readonly passed: Promise<never>;
  at(): number;
  isOver(): boolean;
  extend(until: number): void;
  stop(): void;
}

/** The smaller of the absolute deadline and the time that was left: one of two clocks may be wrong. */
export function startDeadline(
  { completeBy, remainingMs }: Request,
  clock: Clock,
  stopping: AbortSignal | undefined,
  canceled: AbortSignal,
): Deadline {
  const controller = new AbortController();
  const stopped = new AbortController();
  /** Once it is over it stays so: a clock that is put back does not give it more time. */
  let hasPassed = false;
  let at = Math.min(Date.parse(completeBy), clock.now() + remainingMs);
  const { promise: passed, reject } = Promise.withResolvers<never>();
  passed.catch(() => undefined);
  const abort = () => {
    const reason = new Error('The time for this request is over.');
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
