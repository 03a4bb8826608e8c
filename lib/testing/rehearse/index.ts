import { every } from './fault-matrix.ts';
import { rehearse as once } from './rehearse.ts';

export type { FaultMatrix, FaultRow } from './fault-matrix.ts';
export type { Rehearsal, RehearsedOutcome, RehearsedStep, RehearsedWait } from './rehearse.ts';
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
 * Plays a workflow in virtual time, on the engine's pure core alone: `rehearse(fulfilOrder, order,
 * given(payment.charge).faults(CardDeclined))`. Of several whens that concern an asking, the first one answers; without
 * any, an operation answers with a value made up from its output's schema, a workflow that is called is played as well, and
 * no signal and no answer of a person comes. `rehearse.every` plays all that can go wrong, one at a time.
 */
export const rehearse = Object.assign(once, { every });
