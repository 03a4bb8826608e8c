import type { Clock } from '../clock.ts';
import type { Request } from '../messages.ts';

/** A reason of its own: without one, every abort makes an exception with a stack that nobody reads. */
export const answered = 'answered';

export interface Deadline {
  readonly signal: AbortSignal;
  /** Rejects when the signal is aborted. */
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
  cancelled: AbortSignal,
): Deadline {
  const controller = new AbortController();
  const stopped = new AbortController();
  /** Once it is over it stays so: a clock that is put back does not give it more time. */
  let hasPassed = false;
  let at = Math.min(Date.parse(completeBy), clock.now() + remainingMs);
  const passed = new Promise<never>((_, reject) =>
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), { once: true }),
  );
  passed.catch(() => undefined);
  const abort = () => controller.abort(new Error('The time for this request is over.'));
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted && clock.now() < at) await clock.sleep(at - clock.now(), stopped.signal);
    if (stopped.signal.aborted) return;
    hasPassed = true;
    abort();
  };
  stopping?.addEventListener('abort', abort, { once: true });
  cancelled.addEventListener('abort', abort, { once: true });
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
