import type { Json } from './json.ts';
import type { State } from './state.ts';

/** The agent of every call. No service is behind it: the role `child-orders` starts, cancels and compensates called orders. */
export const workflowsAgent = 'workflows';

/** Seconds after which a caller queries its called order. The reply normally arrives without a query, unless a message was lost. */
export const childCheckSeconds = 600;

/** The variable that holds the output of a workflow. No expression can read it, and no variable of a user has this name. */
export const outputVariable = '$output';

/** Returns the output of an order. Only a completed order of a workflow that declares one has an output. */
export const outputOf = ({ outcome, vars }: Pick<State, 'outcome' | 'vars'>): Json | undefined =>
  outcome === 'completed' ? vars?.[outputVariable] : undefined;
