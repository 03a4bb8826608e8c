import { engineFaults } from '#core/data/fault';
import type { FaultType } from './fault.ts';

const engineFault = <const P extends string>(path: P): FaultType<P> => ({ path, name: path.slice(path.lastIndexOf('/') + 1) });

/** Any fault of the engine itself. No step declares them and no workflow must mention them, but each may be handled. */
export const EngineFault = engineFault('Engine');

/** No answer came in time, or the whole order's time is over. */
export const DeadlineExceeded = engineFault(engineFaults.deadlineExceeded);
/** A workflow that was called ended otherwise than completed, and nothing is left of it. */
export const ChildNotCompleted = engineFault(engineFaults.childNotCompleted);
/** A function of the app failed, or its schemas refused what it was given or gave. */
export const ComputeFailed = engineFault(engineFaults.computeFailed);
/** A signal did not come in time. */
export const NoSignal = engineFault(engineFaults.noSignal);
/** An expression could not be evaluated. */
export const ExpressionFailed = engineFault(engineFaults.expressionFailed);
export const ExpressionTooLarge = engineFault(engineFaults.expressionTooLarge);
/** A step inside a retry has another input than in an earlier run, whose effect can't be undone for itself. */
export const InputChanged = engineFault(engineFaults.inputChanged);
/** An answer is not what the operation promises; nobody knows whether the effect exists. */
export const InvalidReply = engineFault(engineFaults.invalidReply);
/** What may be asked for only once was asked for before; nobody knows whether the effect exists. */
export const OutcomeUnknown = engineFault(engineFaults.outcomeUnknown);
/** A step or a call was to be requested with more than can be sent; nothing was requested. */
export const InputTooLarge = engineFault(engineFaults.inputTooLarge);
export const OutputTooLarge = engineFault(engineFaults.outputTooLarge);
/** An activity of the app's own ran a part a second time, and does not say that it may. */
export const RanTwice = engineFault(engineFaults.ranTwice);
/** The service refused without a usable code. */
export const RequestRefused = engineFault(engineFaults.requestRefused);
/** The request's message could not be processed. */
export const RequestRejected = engineFault(engineFaults.requestRejected);
/** The service could not be reached, or failed. */
export const ServiceUnavailable = engineFault(engineFaults.serviceUnavailable);
/** What was to be kept would make the order's state larger than can be stored. */
export const StateTooLarge = engineFault(engineFaults.stateTooLarge);
export const TooManyItems = engineFault(engineFaults.tooManyItems);
export const TooManyTurns = engineFault(engineFaults.tooManyTurns);
