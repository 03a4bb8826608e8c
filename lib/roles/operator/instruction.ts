import type { Json } from '#core/data/json';
import type { OrderInstruction } from '#core/instructions/index';

/** An instruction to an order, with its author and reason. The journal records them. */
export type Instruction = { readonly by: string; readonly reason: string } & OrderInstruction;

/** A message of a client or an operator that a workflow may wait for. */
export interface Signal {
  readonly kind: 'signal';
  readonly name: string;
  readonly payload: Json;
}

/** An instruction or a signal of one call. */
export type Decision = Instruction | Signal;
