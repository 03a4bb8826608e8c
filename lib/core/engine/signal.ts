import type { Event } from '#core/data/event';
import { limits } from '#core/definition/definition';
import { runJobs } from './jobs.ts';
import { withSignal } from './memory.ts';
import { isKept } from './size-limit.ts';
import type { TransitionBuilder } from './transition-builder.ts';
import { apply } from './verbs.ts';

/**
 * Delivers a signal to the oldest activity that waits for it, or else keeps it. A signal above the limits of number or size changes nothing
 * and leaves no fact: the scheduler answers the sender with a refusal, or raises `RuleFailed` if a rule has sent it.
 */
export function signal(builder: TransitionBuilder, { name, payload }: Extract<Event, { type: 'signaled' }>): void {
  const waiting =
    builder.state.phase === 'running' ? Object.keys(builder.state.activities).find((path) => awaits(builder, path, name)) : undefined;
  if (waiting === undefined && ((builder.state.signals ?? []).length >= limits.signalsMax || !isKept(builder, payload))) return;
  builder.fact({ type: 'SignalReceived', name, ...(waiting === undefined ? {} : { path: waiting }) });
  if (waiting === undefined) return builder.replaceState(withSignal(builder.state, { name, payload }));
  apply(
    builder,
    waiting,
    builder.behavior(waiting).signaled?.(builder.node(waiting), builder.local(waiting), payload, builder.context(waiting)),
  );
}

function awaits(builder: TransitionBuilder, path: string, name: string): boolean {
  const node = builder.node(path);
  const { status, local } = builder.activity(path) ?? {};
  return node.activity === 'waitFor' && node.signal === name && status === 'Executing' && local !== undefined;
}

/** Delivers the signals that came while the order was blocked or suspended. */
export function deliverSignals(builder: TransitionBuilder): void {
  for (const kept of builder.state.signals ?? []) {
    const waiting = Object.keys(builder.state.activities).find((path) => awaits(builder, path, kept.name));
    // An activity that continued meanwhile may have taken this signal itself.
    if (waiting === undefined || !builder.continues() || !builder.state.signals?.includes(kept)) continue;
    const next = builder
      .behavior(waiting)
      .signaled?.(builder.node(waiting), builder.local(waiting), kept.payload, builder.context(waiting));
    apply(builder, waiting, next && { ...next, takeSignal: kept });
    runJobs(builder);
  }
}
