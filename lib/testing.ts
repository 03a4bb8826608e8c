export type { ManualClock } from '#ports/clock';
export { manualClock } from '#ports/clock';
export type { CrashedOutcome, CrashedRun, CrashTested, CrashTestOptions } from '#testing/crash-test/index';
export { CrashTestError, crashTest } from '#testing/crash-test/index';
export type {
  FaultMatrix,
  FaultRow,
  OperationStubs,
  PartOf,
  Purpose,
  QuestionStubs,
  Rehearsal,
  RehearsalOptions,
  RehearsedOutcome,
  RehearsedStep,
  RehearsedWait,
  RequestStub,
  SignalStubs,
  Stub,
  TestInstruction,
  WorkflowStubs,
} from '#testing/rehearse/index';
export { given, instruct, rehearse } from '#testing/rehearse/index';
export type { HistoryMatchers, Matched, Moment, Replayed, ReplayOptions } from '#testing/replay/index';
export { historyMatchers, ReplayError, replay } from '#testing/replay/index';
export type { TestSystem, TestSystemOptions } from '#testing/test-system/index';
export { startSystem } from '#testing/test-system/index';
