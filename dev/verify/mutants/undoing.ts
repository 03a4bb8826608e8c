import type { Mutant } from './mutant.ts';

const cancellation = 'lib/core/engine/cancellation.ts';
const faults = 'lib/core/engine/fault-propagation.ts';
const jobs = 'lib/core/engine/jobs.ts';
const undoing = 'lib/core/engine/compensation.ts';
/** The mutant changes both statements: with one of them intact, hardly anything changes. */
const confirmedAndLate = `if (message.confirming) return (await preventStart(message, ports)) === 'begun' ? take(message) : undefined;
    // The caller no longer waits for this attempt.
    if (clock.now() >= Date.parse(message.completeBy)) return telemetry.count('expired');`;
const children = 'lib/roles/child-orders/child-orders.ts';

/** Mistakes about compensation, faults and their handlers, and called orders. */
export const compensation: readonly Mutant[] = [
  {
    name: 'compensation goes from the oldest effect to the newest',
    why: 'the oldest effect is undone first',
    file: undoing,
    find: 'const entry = (builder.state.undo ?? []).findLast((each) => reaches(reach, each));',
    replace: 'const entry = (builder.state.undo ?? []).find((each) => reaches(reach, each));',
  },
  {
    name: 'a failed step is compensated',
    why: 'a refused step is recorded as done',
    file: faults,
    find: "if (local.phase === 'refused') noteRefused(builder, path, local);\n    else",
    replace: "if (local.phase === 'refused') noteDone(builder, path, local, null);\n    else",
  },
  {
    name: 'compensation skips the steps of nested scopes',
    why: 'compensation of a scope undoes only the steps directly in it',
    file: 'lib/core/engine/undo-pages.ts',
    find: 'isAt(path, scope) && !(own && isAt(path, own));',
    replace: 'isAt(path, scope) && path.split(/\\W/).length <= scope.split(/\\W/).length + 1 && !(own && isAt(path, own));',
  },
  {
    name: 'an undo is done twice after a crash',
    why: 'the next attempt of an undo gets another idempotency key',
    file: 'lib/core/engine/step-attempts.ts',
    find: 'const asked = { ...local, attempt: local.attempt + 1, epoch,',
    replace:
      "const asked = { ...local, ...(local.mode === 'undo' ? { generation: local.attempt + 1 } : {}), attempt: local.attempt + 1, epoch,",
  },
  {
    name: 'a handler begins before the siblings are closed',
    why: 'a handler begins while siblings of the failed branch are still running',
    file: jobs,
    find: 'if (!activity || builder.hasChildren(path) || cleanUp(builder, path)) return;',
    replace: "if (!activity || (activity.status !== 'Faulting' && builder.hasChildren(path)) || cleanUp(builder, path)) return;",
  },
  {
    name: 'handlers are matched in the wrong order',
    why: 'of several handlers that match a fault, the last one runs',
    file: 'lib/core/engine/fault-routing.ts',
    find: 'builder.node(path).faultHandlers?.find(',
    replace: 'builder.node(path).faultHandlers?.findLast(',
  },
  {
    name: 'the pauses between tries have no maximum',
    why: 'the pause between the tries of an agent doubles without a maximum',
    file: 'lib/roles/agent/retry.ts',
    find: 'backoffMs(pauseMs, tried - 1, random())',
    replace: 'backoffMs({ ...pauseMs, longest: Number.POSITIVE_INFINITY }, tried - 1, random())',
  },
  {
    name: 'the jitter makes a pause negative',
    why: 'an undo that failed is retried before its pause has begun',
    file: 'lib/core/engine/confirmation.ts',
    find: 'growing * jitter(local.generation)',
    replace: 'growing * (jitter(local.generation) - 1)',
  },
];

export const moreCompensation: readonly Mutant[] = [
  {
    name: 'branches undone one after the other',
    why: 'the undo list is sorted by path, so a branch of a parallel is undone before a later step of another branch',
    file: 'lib/core/engine/undo-list.ts',
    find: 'builder.set({ undo: [...others, { path, generation, ...input }] });\n}\n\n/** Removes the undo entry of a step that was refused',
    replace:
      'builder.set({ undo: [...others, { path, generation, ...input }].toSorted((one, other) => (one.path < other.path ? -1 : 1)) });\n}\n\n/** Removes the undo entry of a step that was refused',
  },
  {
    name: 'unknown outcome counts as not done',
    why: 'a step that never replied counts as one without an effect',
    file: faults,
    find: '    else noteUnknown(builder, path, local);\n  }\n  close',
    replace: '    else noteRefused(builder, path, local);\n  }\n  close',
  },
  {
    name: 'undoing a call leaves the called order',
    why: 'the called order is not compensated',
    file: children,
    find: "if (outcome === 'completed') return scheduler.accept(orderId, [{ id: request.requestId, type: 'compensate' }], []);",
    replace: '',
  },
  {
    name: 'refusal by the agent counts as not done',
    why: 'an agent that refuses a later request claims that the earlier one had no effect',
    file: 'lib/ports/messages.ts',
    find: ' || (attempt > 1 && newKey !== true)',
    replace: '',
  },
  {
    name: 'input refused before the intent is read',
    why: 'an at-most-once request is definitely refused, although an earlier one has begun',
    file: 'lib/roles/agent/execute.ts',
    find: '  if (operation.atMostOnce) return runOnce(work, problem === undefined ? run : refused(problem, false), tools);',
    replace: '  if (operation.atMostOnce) return problem === undefined ? runOnce(work, run, tools) : refused(problem, false);',
  },
  {
    name: 'outcome looked up while the effect may still happen',
    why: '"not found" is trusted although an earlier request may still arrive',
    file: 'lib/core/engine/reply.ts',
    find: 'until !== undefined && sentAt < until + clocksApartMs && isDefiniteRefusal(reply);',
    replace: 'until !== undefined && sentAt < 0 && isDefiniteRefusal(reply);',
  },
  {
    name: 'canceled work is started again at once',
    why: 'a canceled step with an unknown outcome is requested again while it may still be running',
    file: cancellation,
    find: "if (isRerun && local.mode === 'cancel' && local.completeBy > builder.event.at) return waitForCompleteBy(builder, path, local, reply);",
    replace: '',
  },
  {
    name: 'canceled work is given up before it ends',
    why: 'an agent reports at the cancellation that it has given up, and drops the result of its operation',
    file: 'lib/roles/agent/deadline.ts',
    find: "const cancel = () => controller.abort(new RequestCanceled('This request is canceled.'));",
    replace: "const cancel = () => [controller.abort(new RequestCanceled('')), reject(new Error(''))];",
  },
  {
    name: 'canceled call notifies no order',
    why: 'a call that is canceled does not notify the order that it called',
    file: children,
    find: "if (message.type === 'cancel') return cancel(childIdOf(message.idempotencyKey));",
    replace: "if (message.type === 'cancel') return;",
  },
  {
    name: 'canceled call is requested and not canceled',
    why: 'a repeated request for a canceled call leaves the called order as it is',
    file: children,
    find: '    if (request.confirming) await cancel(child.order.orderId);\n',
    replace: '',
  },
  {
    name: 'called order begins after its outcome was confirmed',
    why: 'the answer that a call has not begun is not recorded, and no call is too late to begin',
    file: children,
    find: confirmedAndLate,
    replace: "if (message.confirming) return replies.fail(message, { type: 'NotDone', message: '', permanent: true });",
  },
  {
    name: 'memo with another input',
    why: 'a successful step of a retry counts in a later run, whatever its new input is',
    file: 'lib/core/activities/step.ts',
    find: 'if (hasOtherInput(memo, input.value)) return replaceFormerRun(step, memo, context);',
    replace: '',
  },
  {
    name: 'a custom retry keeps no memo',
    why: 'only the built-in retry keeps the results of its runs',
    file: 'lib/core/activities/index.ts',
    find: 'return retries !== undefined || reruns === true;',
    replace: "return activity === 'retry' && (retries !== undefined || reruns === true);",
  },
  {
    name: 'an order keeps the mark of an undo',
    why: 'the record of an order whose scope has been undone says still that it is being undone',
    file: 'lib/roles/scheduler/planned-write.ts',
    find: 'undoing: isBeingUndone(instance.state) || undefined,',
    replace: 'undoing: isBeingUndone(instance.state) || record.undoing,',
  },
  {
    name: 'one key with two inputs',
    why: 'a step that reads an optional output is requested again with the output of that moment',
    file: 'lib/core/definition/template.ts',
    find: 'const changing = /\\bvars\\b|\\bsteps\\s*(?:\\.\\s*\\?|\\[\\s*\\?)/;',
    replace: 'const changing = /\\bvars\\b/;',
  },
];
