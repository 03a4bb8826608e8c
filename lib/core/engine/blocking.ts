import type { Event } from '#core/data/event';
import { type Fault, isQuestion } from '#core/data/fault';
import { awaitsReply } from '#core/data/step-state';
import { isRemote, rootPath } from '#core/definition/definition';
import { nodeAt } from '#core/definition/program';
import { propagateFault, raise } from './fault-propagation.ts';
import { isHandled } from './fault-routing.ts';
import { runJobs } from './jobs.ts';
import { noAnswer } from './no-answer.ts';
import type { TransitionBuilder } from './transition-builder.ts';

/** Blocks an order whose record is in Error already: a person decides, even if a handler matches the fault. */
export function exhaust(builder: TransitionBuilder, { path, fault }: Extract<Event, { type: 'exhausted' }>): void {
  const remotePath =
    path !== undefined && builder.state.activities[path]
      ? path
      : Object.keys(builder.state.activities).find((each) => isRemote(nodeAt(builder.program, each)));
  const at = remotePath ?? rootPath;
  const step = builder.stepAt(at);
  const raised = { ...(fault ?? noAnswerTo(builder, at)), source: at };
  // Only a step that requests its own operation gets the fault. An undo, a confirmation, a cancellation, a wait or a
  // handler keeps its state, and continues after the resubmission.
  if (isRemote(builder.node(at)) && builder.activity(at)?.status === 'Executing' && !step?.mode) builder.faulting(at, raised, true);
  block(builder, at, raised);
}

/** Raises a fault for a step whose reply is overdue, so that its handlers decide. */
export function overdue(builder: TransitionBuilder, path: string): void {
  const step = builder.stepAt(path);
  // A step whose agent replied "not now" is treated as if the agent had not replied.
  if (step && awaitsReply(step) && !step.mode && step.completeBy <= builder.event.at) raise(builder, path, noAnswerTo(builder, path));
}

/** Returns the fault of a step whose reply is overdue. */
export function noAnswerTo(builder: TransitionBuilder, path: string): Fault {
  const node = builder.node(path);
  return { ...noAnswer(node.activity === 'step' ? node : {}, builder.stepAt(path)), source: path };
}

/**
 * Blocks the order for the first of several simultaneous faults. The others wait until a person has dealt with the first. A fault that
 * something handles now is propagated instead.
 */
export function blockOrContinue(builder: TransitionBuilder): void {
  for (const path of [builder.blockingPath() ?? rootPath, ...Object.keys(builder.state.activities)]) {
    const { fault, awaitsPerson: waits } = builder.activity(path) ?? {};
    if (!fault || !waits || builder.state.phase !== 'running') continue;
    if (isQuestion(fault) || !isHandled(builder, path, fault)) return block(builder, path, fault);
    propagateFault(builder, path, fault);
    runJobs(builder);
  }
}

/** Blocks an order for an exception from outside. Its activities keep their state. */
export function blockForReport(builder: TransitionBuilder, fault: Fault): void {
  builder.set({ phase: 'blocked', blocked: { path: rootPath, fault, at: builder.event.at, reported: true } });
  builder.fact({ type: 'OrderBlocked', path: rootPath, fault });
}

export function block(builder: TransitionBuilder, path: string, fault: Fault): void {
  builder.set({ phase: 'blocked', blocked: { path, fault, at: builder.event.at } });
  builder.fact({ type: 'OrderBlocked', path, fault });
}

/** Ends the block of an order, so that its activity at this path continues. The order gets a new time limit if one is given. */
export function unblock(builder: TransitionBuilder, path: string, completeWithinSeconds?: number): void {
  const { blocked: _, ...state } = builder.state;
  const endBy = completeWithinSeconds === undefined ? {} : { endBy: builder.event.at + completeWithinSeconds * 1000 };
  builder.replaceState({ ...state, phase: 'running', ...endBy });
  const { awaitsPerson, fault: _fault, ...activity } = builder.activity(path) ?? { status: 'Executing' as const };
  if (awaitsPerson) builder.put(path, { ...activity, status: 'Executing' });
  builder.fact({ type: 'OrderUnblocked', path });
}
