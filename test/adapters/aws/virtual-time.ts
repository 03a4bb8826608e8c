interface Timer {
  readonly id: number;
  at: number;
  readonly run: () => void;
  readonly everyMs: number | undefined;
}

/**
 * Replaces this thread's `Date.now`, `setTimeout` and `setInterval` by a time that stands still until a test advances
 * it. Sockets keep the real time, since Node's own timers are not replaced.
 */
export function installClock(start: number): { advance(ms: number): Promise<void> } {
  let now = start;
  let ids = 0;
  const timers = new Map<number, Timer>();
  const add = (run: (...args: unknown[]) => void, ms: number, args: unknown[], everyMs?: number) => {
    const id = ++ids;
    timers.set(id, { id, at: now + ms, run: () => run(...args), everyMs });
    return Object.assign(Object(id) as object, { ref() {}, unref() {}, hasRef: () => true, [Symbol.toPrimitive]: () => id });
  };
  const remove = (timer: unknown): void => void timers.delete(Number(timer));

  Date.now = () => now;
  Object.assign(globalThis, {
    setTimeout: (run: () => void, ms = 0, ...args: unknown[]) => add(run, ms, args),
    setInterval: (run: () => void, ms = 0, ...args: unknown[]) => add(run, ms, args, ms),
    clearTimeout: remove,
    clearInterval: remove,
  });

  return {
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers.values()].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at || a.id - b.id);
        if (!next) break;
        now = Math.max(now, next.at);
        if (next.everyMs === undefined) timers.delete(next.id);
        else next.at = now + Math.max(1, next.everyMs);
        next.run();
        await turns(2);
      }
      now = end;
      await turns(4);
    },
  };
}

/** Runs everything that is ready to run. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
