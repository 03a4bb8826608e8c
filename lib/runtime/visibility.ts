import type { App } from '#authoring/workflow';
import type { Config } from './config.ts';
import { topologyOf } from './topology.ts';

/**
 * Returns the visibility timeout of a queue in milliseconds: at least the longest run of its function. On one machine, an event source
 * receives with a shorter timeout and extends it while it works, so that after a crash the messages are redelivered soon.
 */
export function visibilityOf(app: App, { adapters, stepMs }: Pick<Config, 'adapters' | 'stepMs'>): (queue: string) => number {
  const all = new Map(
    topologyOf(app, adapters === 'aws' ? { stepMs } : {}).flatMap(({ sources, timeoutMs }) =>
      sources.map(({ queue, visibilityMs }) => [queue, Math.max(visibilityMs, timeoutMs)] as const),
    ),
  );
  return (queue) => all.get(queue) ?? 0;
}
