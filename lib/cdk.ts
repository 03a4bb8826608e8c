/** What the infrastructure is made from: the functions of a system, and the queues between them. */
export type { App } from './authoring/workflow.ts';
export { queues } from './messages.ts';
export type { FunctionSpec, QueueSource } from './topology.ts';
export { topologyOf } from './topology.ts';
