import { every } from './fault-matrix.ts';
import { rehearse as once } from './rehearse.ts';

export type { FaultMatrix, FaultRow } from './fault-matrix.ts';
export type { Rehearsal, RehearsalOptions, RehearsedOutcome, RehearsedStep, RehearsedWait } from './rehearse.ts';
export type {
  OperationStubs,
  PartOf,
  Purpose,
  QuestionStubs,
  RequestStub,
  SignalStubs,
  Stub,
  TestInstruction,
  WorkflowStubs,
} from './stubs.ts';
export { given, instruct } from './stubs.ts';

/**
 * Runs a workflow in virtual time on the engine's pure core: `rehearse(fulfilOrder, order, given(payment.charge).faults(CardDeclined))`.
 * The first matching stub answers a request. Without a stub, an operation answers with a value made from its output schema, a called
 * workflow is rehearsed too, and no signal or answer of a person comes. `rehearse.every` rehearses every single failure.
 */
export const rehearse = Object.assign(once, { every });
