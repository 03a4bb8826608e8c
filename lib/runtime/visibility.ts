import type { App } from '#authoring/workflow';
import type { Config } from './config.ts';
import { topologyOf } from './topology.ts';

/**
 * For how many milliseconds a message of a queue stays invisible while a process works on it: as long as one run of its function may
 * take. On one machine the event source extends the time while it works, so that a process that dies hides nothing for so long.
 */
export function visibilityOf(app: App, { adapters, stepMs }: Pick<Config, 'adapters' | 'stepMs'>): (queue: string) => number {
  const all = new Map(
    topologyOf(app, adapters === 'aws' ? { stepMs } : {}).flatMap(({ sources, timeoutMs }) =>
      sources.map(({ queue, visibilityMs }) => [queue, Math.max(visibilityMs, timeoutMs)] as const),
    ),
  );
  return (queue) => all.get(queue) ?? 0;
}
