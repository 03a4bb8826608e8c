/** The agent behind calls. The engine itself plays it: it starts, cancels and compensates called orders. */
export const workflowsAgent = 'workflows';

/** Seconds after which a caller queries its called order. The reply normally arrives without a query, unless a message was lost. */
export const childCheckSeconds = 600;

/** The variable whose value a called order returns to its caller. */
export const resultVariable = 'result';
