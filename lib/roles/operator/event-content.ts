import type { EventContent } from '#core/data/event';
import { kindOf, type OrderInstruction } from '#core/instructions/index';
import type { Judged } from '#core/instructions/kind';
import type { Signal } from './instruction.ts';

/** Returns the event that a feasible instruction or signal is to an order that has begun. */
export function contentOf(
  decision: OrderInstruction | Signal,
  order: Pick<Judged, 'program' | 'state' | 'subject' | 'past'>,
): EventContent {
  if (decision.kind === 'signal') return { type: 'signaled', name: decision.name, payload: decision.payload };
  return kindOf(decision).event?.(order, decision) ?? { type: 'instructed', instruction: withoutAuthor(decision) };
}

/** The state keeps what an instruction says, but not who gave it. */
function withoutAuthor(decision: OrderInstruction & { readonly by?: string; readonly reason?: string }): OrderInstruction {
  const { by: _, reason: __, ...instruction } = decision;
  return instruction as OrderInstruction;
}
