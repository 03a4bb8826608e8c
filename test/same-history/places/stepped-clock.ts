import type { Clock } from '#ports/clock';

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** A clock that stops between steps, and knows the time of the next sleeper. */
export class SteppedClock implements Clock {
  private time: number;
  private readonly sleepers = new Set<Sleeper>();

  constructor(start: number) {
    this.time = start;
  }

  readonly now = (): number => this.time;

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = () => {
        this.sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { until: this.time + Math.max(0, ms), wake };
      this.sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });

  /** The time of the next sleeper; Infinity without sleepers. */
  next(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { until } of this.sleepers) if (until < next) next = until;
    return next;
  }

  /** Wakes the sleepers that are due by then. */
  moveTo(time: number): void {
    this.time = Math.max(this.time, time);
    for (const { until, wake } of [...this.sleepers]) if (until <= this.time) wake();
  }
}
