/** The only source of time outside of the core. The core receives its time in events. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts. It never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, 2 ** 31 - 1));
      signal?.addEventListener('abort', done, { once: true });
    }),
};

/** A clock that stands still until a test moves it. Sleepers wake in the order of their times. */
export interface ManualClock extends Clock {
  advance(ms: number): Promise<void>;
  /** Moves the clock to the next sleeper's time and wakes it; resolves to false if there are no sleepers. */
  next(): Promise<boolean>;
  /** Does the same as `next`, but only for a sleeper due by `end`, in milliseconds since 1970. */
  nextBy(end: number): Promise<boolean>;
  /** Moves the clock by `ms` in one step. Sleepers that are due in between wake once, at the end. */
  jump(ms: number): Promise<void>;
}

export function manualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  let now = start;
  let sleepers: { until: number; wake: () => void }[] = [];
  const firstUntil = (end: number) => sleepers.filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
  const wake = (sleeper: (typeof sleepers)[number]): void => {
    sleepers = sleepers.filter((each) => each !== sleeper);
    sleeper.wake();
  };
  const nextBy = async (end: number): Promise<boolean> => {
    await settled();
    const next = firstUntil(end);
    if (!next) return false;
    now = Math.max(now, next.until);
    wake(next);
    await settled();
    return true;
  };
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper = { until: now + ms, wake: resolve };
        sleepers.push(sleeper);
        signal?.addEventListener(
          'abort',
          () => {
            sleepers = sleepers.filter((each) => each !== sleeper);
            resolve();
          },
          { once: true },
        );
      }),
    async advance(ms) {
      const end = now + ms;
      await settled();
      for (;;) {
        const next = firstUntil(end);
        if (!next) break;
        now = Math.max(now, next.until);
        wake(next);
        await settled();
      }
      now = end;
      await settled();
    },
    next: () => nextBy(Number.POSITIVE_INFINITY),
    nextBy,
    async jump(ms) {
      await settled();
      now += ms;
      for (let next = firstUntil(now); next; next = firstUntil(now)) wake(next);
      await settled();
    },
  };
}

/** Waits for a few turns of the event loop, so that all pending work runs. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};
