import type { Clock } from '#ports/clock';

export interface PassesOptions {
  /** The time for which a run repeats its passes; 0: one pass. EventBridge starts a schedule once a minute at most. */
  readonly repeatForMs: number;
  readonly periodMs: number;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

/** Repeats passes until their time is over or `stopping` aborts, and returns the result of the last one. */
export async function repeatPasses<T>(pass: () => Promise<T>, { repeatForMs, periodMs, clock, stopping }: PassesOptions): Promise<T> {
  const until = clock.now() + repeatForMs;
  for (;;) {
    const result = await pass();
    if (stopping.aborted || clock.now() + periodMs >= until) return result;
    await clock.sleep(periodMs, stopping);
    if (stopping.aborted) return result;
  }
}
