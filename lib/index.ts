/** The API for the authors of workflows, agents and faults. */

export type { Activity, FaultsOf } from '#authoring/activity';
export type { Agent, AgentDefinition, Call, Operation } from '#authoring/agent';
export { defineAgent, operation, secret } from '#authoring/agent';
export type { Data, Variable } from '#authoring/basic-activities';
export { assign, compensate, delay, raise, terminate, variable, variables } from '#authoring/basic-activities';
export type { Otherwise, RetryOptions, When } from '#authoring/blocks';
export { choice, otherwise, parallel, retry, scope, sequence, when } from '#authoring/blocks';
export type { WithOutput } from '#authoring/call';
export { call, withOutput } from '#authoring/call';
export type { Caught, CaughtFault, Composite, Handled } from '#authoring/composite';
export { compute } from '#authoring/compute';
export { and, atLeast, atMost, equals, greaterThan, has, ifTrue, lessThan, not, or } from '#authoring/conditions';
export type {
  ClientDecision,
  ClientOrders,
  Consumer,
  ConsumerOptions,
  MessageContext,
  MessageType,
  OrderOfClient,
  OwnFailureCount,
  OwnFailureCounts,
} from '#authoring/consumer';
export { defineConsumer, messageType } from '#authoring/consumer';
export type { CustomBehavior, CustomNode } from '#authoring/custom';
export { defineActivity, defineLeafActivity } from '#authoring/custom';
export { DefinitionError } from '#authoring/definition-error';
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
  ProgrammingError,
  RanTwice,
  RequestRefused,
  RequestRejected,
  ServiceUnavailable,
  StateTooLarge,
  TooManyItems,
  TooManyTurns,
} from '#authoring/engine-faults';
export type { Expr, In, Ref } from '#authoring/expression';
export { cel, orElse, sum, text } from '#authoring/expression';
export type { Failed, FaultDetails, FaultTag, FaultType } from '#authoring/fault';
export { AnyFault, fault, PermanentFailure, TransientFailure, TransientFault, UnprocessableMessage } from '#authoring/fault';
export type { Collecting, ForEachOptions, Turn } from '#authoring/loops';
export { forEach, repeatWhile } from '#authoring/loops';
export type { AppRule, RuleActionOf, RuleEvent, RuleRead, RuleValues } from '#authoring/rule';
export { defineRule } from '#authoring/rule';
export type {
  HostEvents,
  HostListeners,
  RuntimeService,
  ServiceRuntime,
  ServiceSubmission,
  ServiceSubmitted,
} from '#authoring/services';
export type { QuestionActivity, SignalActivity } from '#authoring/signals-and-questions';
export { askOperator, waitFor } from '#authoring/signals-and-questions';
export type { AnsweringActivity, StepActivity } from '#authoring/step';
export type { App, LocalTrial, Workflow } from '#authoring/workflow';
export { defineApp, defineWorkflow } from '#authoring/workflow';
export type { Problem } from '#core/checks/check';
export { check } from '#core/checks/check';
export type { Fault, FaultClass } from '#core/data/fault';
export type { Start } from '#core/data/ids';
export type { Json, JsonObject } from '#core/data/json';
export type { Closing } from '#core/data/state';
export type { Catalog, OperationSchemas } from '#core/definition/catalog';
export type { WorkflowDefinition } from '#core/definition/definition';
export type { Behavior, Context, Next } from '#core/engine/behavior';
export { close, raise as raiseFault, run, succeeded, wait } from '#core/engine/behavior';
