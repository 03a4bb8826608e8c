import type { EventContent } from '#core/data/event';
import { kindOf, type OrderInstruction } from '#core/instructions/index';
import type { Judged } from '#core/instructions/kind';
import type { Signal } from './instruction.ts';

/** Returns the event with which a feasible instruction or signal reaches an order that has begun. */
export function contentOf(given: OrderInstruction | Signal, order: Pick<Judged, 'program' | 'state' | 'subject' | 'past'>): EventContent {
  if (given.kind === 'signal') return { type: 'signaled', name: given.name, payload: given.payload };
  return kindOf(given).event?.(order, given) ?? { type: 'instructed', instruction: withoutAuthor(given) };
}

/** The state keeps what an instruction says, but not who gave it. */
function withoutAuthor(given: OrderInstruction & { readonly by?: string; readonly reason?: string }): OrderInstruction {
  const { by: _, reason: __, ...instruction } = given;
  return instruction as OrderInstruction;
}
