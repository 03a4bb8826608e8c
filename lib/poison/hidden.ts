import type { App } from '../authoring/workflow.ts';
import { topologyOf } from '../topology.ts';

/** By queue, for how many milliseconds whoever has taken a message may be at work on it: as long as a run of its function may take. */
export function hiddenIn(app: App): (queue: string) => number {
  const all = new Map(
    topologyOf(app).flatMap(({ sources, timeoutMs }) =>
      sources.map(({ queue, visibilityMs }) => [queue, Math.max(visibilityMs, timeoutMs)] as const),
    ),
  );
  return (queue) => all.get(queue) ?? 0;
}
