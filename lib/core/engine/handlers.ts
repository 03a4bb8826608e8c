import type { Event } from '#core/data/event';
import { kindOf } from '#core/instructions/index';
import { block, blockForReport } from './blocking.ts';
import { endWait } from './lateness.ts';
import { continueAll } from './resumption.ts';
import { endSuspension } from './suspension.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/**
 * Continues an order after the handler of its exception has ended. A completed handler with `control: 'ready'` leads to the event `resumed`
 * instead.
 */
export function afterHandler(builder: TransitionBuilder, { place, next }: Extract<Event, { type: 'handlerEnded' }>): void {
  if (builder.state.phase === 'blocked') return;
  endSuspension(builder);
  if (next.kind === 'block') {
    const raised = { ...next.fault, source: place };
    // `waitsUntil` marks an activity that is to run again (see `suspendAt`): it had failed, or a report was about its open request.
    if (builder.activity(place)?.waitsUntil === undefined) return blockForReport(builder, raised);
    endWait(builder, place);
    builder.faulting(place, raised, true);
    return block(builder, place, raised);
  }
  const { path, past } = next;
  const instruction = { kind: 'resume-at', path, undoBetween: false, past } as const;
  kindOf(instruction).apply?.(builder, instruction);
  continueAll(builder, () => false);
}
