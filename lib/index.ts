/** What a user writes a system with: workflows, agents, faults. */

export type { Activity, FaultsOf, StepActivity } from './authoring/activity.ts';
export { delay, parallel, sequence } from './authoring/activity.ts';
export type { Agent, AgentDefinition, Call, Operation } from './authoring/agent.ts';
export { defineAgent, operation, secret } from './authoring/agent.ts';
export type { Expr, In, Ref } from './authoring/expression.ts';
export { cel, sum, text } from './authoring/expression.ts';
export type { Failed, FaultType } from './authoring/fault.ts';
export { fault, PermanentFailure, TransientFailure } from './authoring/fault.ts';
export type { App, LocalTrial } from './authoring/workflow.ts';
export { DefinitionError, defineApp, defineWorkflow } from './authoring/workflow.ts';
export type { Problem } from './core/check.ts';
export { check } from './core/check.ts';
export type { WorkflowDefinition } from './core/definition.ts';
export type { Fault, FaultClass } from './core/fault.ts';
export type { Json, JsonObject } from './core/json.ts';
