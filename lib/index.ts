/** What a user writes a system with: workflows, agents, faults. */

export type { Activity, FaultsOf } from './authoring/activity.ts';
export type { Agent, AgentDefinition, Call, Operation } from './authoring/agent.ts';
export { defineAgent, operation, secret } from './authoring/agent.ts';
export type { Otherwise, RetryOptions, When } from './authoring/blocks.ts';
export { choice, otherwise, parallel, retry, scope, sequence, when } from './authoring/blocks.ts';
export type { Answering } from './authoring/call.ts';
export { answering, call } from './authoring/call.ts';
export type { Caught, CaughtFault, Composite, Handled } from './authoring/composite.ts';
export { compute } from './authoring/compute.ts';
export type { CustomBehaviour, CustomNode } from './authoring/custom.ts';
export { defineActivity, defineLeafActivity } from './authoring/custom.ts';
export { DefinitionError } from './authoring/definition-error.ts';
export {
  ChildNotCompleted,
  ComputeFailed,
  DeadlineExceeded,
  EngineFault,
  ExpressionFailed,
  ExpressionTooLarge,
  InputChanged,
  InputTooLarge,
  InvalidReply,
  NoSignal,
  OutcomeUnknown,
  OutputTooLarge,
  RanTwice,
  RequestRefused,
  RequestRejected,
  ServiceUnavailable,
  StateTooLarge,
  TooManyItems,
  TooManyTurns,
} from './authoring/engine-faults.ts';
export type { Expr, In, Ref } from './authoring/expression.ts';
export { cel, orElse, sum, text } from './authoring/expression.ts';
export type { Failed, FaultType } from './authoring/fault.ts';
export { AnyFault, fault, PermanentFailure, TransientFailure, TransientFault, UnprocessableMessage } from './authoring/fault.ts';
export type { Data, Variable } from './authoring/leaves.ts';
export { assign, compensate, delay, raise, terminate, variable } from './authoring/leaves.ts';
export type { ForEachOptions, Turn } from './authoring/loops.ts';
export { forEach, whilst } from './authoring/loops.ts';
export type { QuestionActivity, SignalActivity } from './authoring/people.ts';
export { askOperator, waitFor } from './authoring/people.ts';
export type {
  HostEvents,
  HostListeners,
  RuntimeService,
  ServiceRuntime,
  ServiceSubmission,
  ServiceSubmitted,
} from './authoring/services.ts';
export type { AnsweringActivity, StepActivity } from './authoring/step.ts';
export type { App, LocalTrial, Workflow } from './authoring/workflow.ts';
export { defineApp, defineWorkflow } from './authoring/workflow.ts';
export type { Behaviour, Closing, Context, Next, Start } from './core/behaviour.ts';
export { close, raise as raiseFault, run, succeeded, wait } from './core/behaviour.ts';
export type { Catalogue, OperationSchemas } from './core/catalogue.ts';
export type { Problem } from './core/check.ts';
export { check } from './core/check.ts';
export type { WorkflowDefinition } from './core/definition.ts';
export type { Fault, FaultClass } from './core/fault.ts';
export type { Json, JsonObject } from './core/json.ts';
