/** The only source of time outside the core, which gets its time in the events. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after so long, or at once when the signal aborts; it never rejects. */
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

/** A clock that stands still until it is told to go on; whoever sleeps wakes in the order of his time. */
export interface ManualClock extends Clock {
  advance(ms: number): Promise<void>;
  /** Time goes on to when the next one wakes, and no further; false where nobody sleeps. */
  next(): Promise<boolean>;
  /** The same, as long as that is not later than so many milliseconds since 1970. */
  nextBy(end: number): Promise<boolean>;
  /** Time goes on by so much at once: who wakes meanwhile wakes once, at the end of it. */
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

/** Lets everything that is ready to run, run: a few turns of the event loop. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};
