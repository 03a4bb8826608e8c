import type { App } from '../authoring/workflow.ts';
import type { Config } from '../config.ts';
import { topologyOf } from '../topology.ts';

export interface Running {
  readonly app: App;
  readonly config: Pick<Config, 'adapters' | 'stepMs'>;
}

/**
 * By queue, for how many milliseconds whoever has taken a message may be at work on it: as long as a run of its function may take.
 * On one machine the event source hides it anew while it is at work, and what a process leaves that dies need not wait for so long.
 */
export function hiddenIn({ app, config: { adapters, stepMs } }: Running): (queue: string) => number {
  const all = new Map(
    topologyOf(app, adapters === 'aws' ? { stepMs } : {}).flatMap(({ sources, timeoutMs }) =>
      sources.map(({ queue, visibilityMs }) => [queue, Math.max(visibilityMs, timeoutMs)] as const),
    ),
  );
  return (queue) => all.get(queue) ?? 0;
}
