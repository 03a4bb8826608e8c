import type { Clock } from '#ports/clock';
import type { AgentWatch, WatchedProcess } from './agent-watch.ts';
import type { Observation } from './observation.ts';

interface Options {
  readonly process: WatchedProcess & { readonly id: string };
  readonly watch: AgentWatch;
  record(observation: Observation): void;
  /** Whether a sleep is the pause of a poll, which finds nothing until another event has happened. */
  isPoll?(ms: number): boolean;
}

/** Returns the clock of one process. A dead process does not wake. */
export const clockOf = ({ process, watch, record, isPoll }: Options): Clock => ({
  now: () => process.timeline.now + process.skewMs,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const tried = watch.triedFor(signal);
      if (tried) record({ type: 'backs off', ...tried, ms });
      signal?.addEventListener('abort', () => resolve(), { once: true });
      const wake = () => (signal?.aborted ? undefined : process.goOn(resolve));
      if (isPoll?.(ms)) process.timeline.whenSomethingHappens(ms, `${process.id} polls`, wake);
      else process.timeline.after(Math.max(1, Math.ceil(ms)), `${process.id} wakes`, wake);
    }),
});
