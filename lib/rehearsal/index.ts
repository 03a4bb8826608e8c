import { every } from './every.ts';
import { rehearse as once } from './rehearse.ts';

export type { FaultMatrix, FaultRow } from './every.ts';
export type { Rehearsal, RehearsedOutcome, RehearsedStep } from './rehearse.ts';
export type { Purpose, When, Whens } from './when.ts';
export { when } from './when.ts';

/**
 * Plays a workflow in virtual time, on the engine's pure core alone: `rehearse(fulfilOrder, order,
 * when(payment.charge).faults(CardDeclined))`. Of several whens that concern an asking, the first one answers; without
 * any, an operation answers with a value made up from its output's schema. `rehearse.every` plays each declared fault,
 * silence and an unusable answer at each step.
 */
export const rehearse = Object.assign(once, { every });
