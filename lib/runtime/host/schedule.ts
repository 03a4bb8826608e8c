import type { Clock } from '#ports/clock';
import { isFatal } from '#ports/errors';
import type { Telemetry } from '#ports/telemetry';

/** The options of every loop of a host. */
export interface LoopOptions {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Aborts when the host stops taking new work. */
  readonly stopping: AbortSignal;
  /** Called for an error after which the host cannot continue. The loop ends. */
  readonly onFatal: (error: unknown) => void;
}

/** Work that a host repeats. */
export interface Schedule {
  /** Does the work once, now. */
  run(): Promise<unknown>;
  /** Resolves after the last run, when the host stops. */
  readonly ended: Promise<void>;
}

export interface Period {
  readonly periodMs: number;
  readonly firstAfterMs?: number;
}

/** Repeats work with a pause of one period after each run. A failed run is logged, and the next one follows. */
export function startSchedule(
  run: () => Promise<unknown>,
  { periodMs, firstAfterMs = 0 }: Period,
  { clock, telemetry, stopping, onFatal }: LoopOptions,
): Schedule {
  const loop = async (): Promise<void> => {
    if (firstAfterMs > 0) await clock.sleep(firstAfterMs, stopping);
    while (!stopping.aborted) {
      try {
        await run();
      } catch (error) {
        if (isFatal(error)) return onFatal(error);
        telemetry.log('error', 'scheduled run failed', { error });
      }
      await clock.sleep(periodMs, stopping);
    }
  };
  return { run, ended: loop() };
}
