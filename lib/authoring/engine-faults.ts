import { engineFaults } from '#core/data/fault';
import type { FaultType } from './fault.ts';

const engineFault = <const P extends string>(path: P): FaultType<P> => ({ path, name: path.slice(path.lastIndexOf('/') + 1) });

/** Any fault of the engine. Steps do not declare it and workflows need not handle it, but each kind can be handled. */
export const EngineFault = engineFault('Engine');

/** No reply came in time, or the time limit of the step or of the whole order has passed. */
export const DeadlineExceeded = engineFault(engineFaults.deadlineExceeded);
/** A called order did not complete. Everything that it did is undone, unless a person terminated it. */
export const ChildNotCompleted = engineFault(engineFaults.childNotCompleted);
/** A `compute` function threw or took more than a second, or its schemas rejected its input or output. */
export const ComputeFailed = engineFault(engineFaults.computeFailed);
/** A signal did not arrive in time. */
export const NoSignal = engineFault(engineFaults.noSignal);
/** An expression could not be evaluated. */
export const ExpressionFailed = engineFault(engineFaults.expressionFailed);
export const ExpressionTooLarge = engineFault(engineFaults.expressionTooLarge);
/** In a later run of a retry, a step has another input than in the run that completed it, and has no undo of its own and no `noUndo`. */
export const InputChanged = engineFault(engineFaults.inputChanged);
/** A reply violates the schema of the operation. Whether the effect exists is unknown. */
export const InvalidReply = engineFault(engineFaults.invalidReply);
/** An `atMostOnce` operation was requested, and no definite reply came. Whether its effect exists is unknown. */
export const OutcomeUnknown = engineFault(engineFaults.outcomeUnknown);
/** The request of a step or a call exceeds the size limit of a message. The request was not sent. */
export const InputTooLarge = engineFault(engineFaults.inputTooLarge);
export const OutputTooLarge = engineFault(engineFaults.outputTooLarge);
/**
 * The code of an operation threw the same programming error at several tries, so whether its effect exists is unknown. Or the `execute` of
 * a custom activity threw.
 */
export const ProgrammingError = engineFault(engineFaults.programmingError);
/** A custom activity ran a part a second time without declaring that it may. */
export const RanTwice = engineFault(engineFaults.ranTwice);
/** The service refused without a usable code. */
export const RequestRefused = engineFault(engineFaults.requestRefused);
/** The request message could not be processed. */
export const RequestRejected = engineFault(engineFaults.requestRejected);
/** The service was unreachable, or failed. */
export const ServiceUnavailable = engineFault(engineFaults.serviceUnavailable);
/** A write would exceed the size limit of the order's state. */
export const StateTooLarge = engineFault(engineFaults.stateTooLarge);
export const TooManyItems = engineFault(engineFaults.tooManyItems);
export const TooManyTurns = engineFault(engineFaults.tooManyTurns);
