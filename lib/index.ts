/** What a user writes a system with: workflows, agents, faults. */
export { delay, parallel, sequence } from './authoring/activity.ts';
export type { Activity, FaultsOf, StepActivity } from './authoring/activity.ts';
export { defineAgent, operation, secret } from './authoring/agent.ts';
export type { Agent, AgentDefinition, Call, Operation } from './authoring/agent.ts';
export { cel, sum, text } from './authoring/expression.ts';
export type { Expr, In, Ref } from './authoring/expression.ts';
export { PermanentFailure, TransientFailure, fault } from './authoring/fault.ts';
export type { Failed, FaultType } from './authoring/fault.ts';
export { DefinitionError, defineApp, defineWorkflow } from './authoring/workflow.ts';
export type { App, LocalTrial } from './authoring/workflow.ts';
export { check } from './core/check.ts';
export type { Problem } from './core/check.ts';
export type { WorkflowDefinition } from './core/definition.ts';
export type { Fault, FaultClass } from './core/fault.ts';
export type { Json, JsonObject } from './core/json.ts';
