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

/** An exception that a person or another system reports (F-164). */
export interface Report {
  readonly kind: 'report';
  readonly by: string;
  readonly type: string;
  readonly message: string;
  /** The activity that the report is about, whether the activity has begun or not. Absent: the order as a whole. */
  readonly path?: string;
  readonly data?: Json;
  /** The id of the exception or the order of which the reported exception is a consequence. No API call sets this field. */
  readonly causedBy?: string;
}

/** An instruction or a signal of one API call. */
export type Decision = Instruction | Signal;

/** Anything that an API call brings to an order. */
export type Given = Decision | Report;

export const isInstruction = (given: Given): given is Instruction => given.kind !== 'signal' && given.kind !== 'report';
