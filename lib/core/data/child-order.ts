/** The agent behind calls is the engine itself: it starts, cancels and undoes the orders that other orders call. */
export const workflowsAgent = 'workflows';

/** Seconds after which a caller asks again how its child fares: the answer comes by itself, unless it was lost. */
export const childCheckSeconds = 600;

/** The variable that a workflow leaves for whoever called it. */
export const resultVariable = 'result';
