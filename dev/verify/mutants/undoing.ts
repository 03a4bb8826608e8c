import type { Mutant } from './mutant.ts';

const windingUp = 'lib/core/engine/lifecycle.ts';
const undoing = 'lib/core/engine/compensation.ts';
/** One of the two alone is hardly missed. */
const settledAndLate = `if (message.confirming) return preventStart(message);
    // The caller no longer waits for this attempt.
    if (clock.now() >= Date.parse(message.completeBy)) return telemetry.count('expired');`;
const children = 'lib/roles/child-orders/child-orders.ts';

/** Compensation, faults and their handlers, orders that others call. */
export const compensation: readonly Mutant[] = [
  {
    name: 'compensation in forward order',
    why: 'what was done first is undone first',
    file: undoing,
    find: 'const entry = (builder.state.undo ?? []).findLast((each) => reaches(reach, each));',
    replace: 'const entry = (builder.state.undo ?? []).find((each) => reaches(reach, each));',
  },
  {
    name: 'compensates failed step',
    why: 'a step that was refused is noted as done',
    file: windingUp,
    find: "if (local.phase === 'refused') noteRefused(builder, path, local);\n    else",
    replace: "if (local.phase === 'refused') noteDone(builder, path, local, null);\n    else",
  },
  {
    name: 'skips step of nested scope',
    why: 'only what lies directly in a scope is undone with it',
    file: 'lib/core/engine/undo-pages.ts',
    find: 'isAt(path, scope) && !(own && isAt(path, own));',
    replace: 'isAt(path, scope) && path.split(/\\W/).length <= scope.split(/\\W/).length + 1 && !(own && isAt(path, own));',
  },
  {
    name: 'compensates twice after crash',
    why: 'an undo that is asked for once more gets another idempotency key',
    file: 'lib/core/activities/step.ts',
    find: 'const asked = { ...local, attempt: local.attempt + 1, epoch,',
    replace:
      "const asked = { ...local, ...(local.mode === 'undo' ? { generation: local.attempt + 1 } : {}), attempt: local.attempt + 1, epoch,",
  },
  {
    name: 'handler before siblings closed',
    why: 'a handler begins while branches beside the one that failed are still at work',
    file: windingUp,
    find: 'if (!activity || builder.hasChildren(path) || builder.cleanUp(path)) return;',
    replace: "if (!activity || (activity.status !== 'Faulting' && builder.hasChildren(path)) || builder.cleanUp(path)) return;",
  },
  {
    name: 'handler match by declaration wrong order',
    why: 'of several handlers that take a fault the last one runs',
    file: 'lib/core/engine/fault-routing.ts',
    find: 'builder.node(path).faultHandlers?.find(',
    replace: 'builder.node(path).faultHandlers?.findLast(',
  },
  {
    name: 'retry delay without cap',
    why: 'the pause between the tries of an agent doubles without end',
    file: 'lib/roles/agent/retry.ts',
    find: 'backoffMs(pauseMs, tried - 1, random())',
    replace: 'backoffMs({ ...pauseMs, longest: Number.POSITIVE_INFINITY }, tried - 1, random())',
  },
  {
    name: 'jitter negative',
    why: 'an undo that failed is tried again before its pause has begun',
    file: 'lib/core/activities/step.ts',
    find: 'growing * jitter(local.generation)',
    replace: 'growing * (jitter(local.generation) - 1)',
  },
];

export const moreCompensation: readonly Mutant[] = [
  {
    name: 'unknown taken for not done',
    why: 'a step that never answered is taken for one that did nothing',
    file: windingUp,
    find: '    else noteUnknown(builder, path, local);\n  }\n  builder.close',
    replace: '    else noteRefused(builder, path, local);\n  }\n  builder.close',
  },
  {
    name: 'undoing a call leaves what it called',
    why: 'the order that was called is not taken back',
    file: children,
    find: "if (outcome === 'completed') return scheduler.accept(orderId, [{ id: request.requestId, type: 'compensate' }], []);",
    replace: '',
  },
  {
    name: 'refused by the agent taken for not done',
    why: 'an agent that refuses a later asking says by that that the earlier one did nothing',
    file: 'lib/ports/messages.ts',
    find: ' || (attempt > 1 && newKey !== true)',
    replace: '',
  },
  {
    name: 'refused for its input before its note is looked at',
    why: 'what may be asked for only once is refused for certain, although it was begun before',
    file: 'lib/roles/agent/execute.ts',
    find: '  if (operation.atMostOnce) return once(work, problem === undefined ? run : refused(problem, false), tools);',
    replace: '  if (operation.atMostOnce) return problem === undefined ? once(work, run, tools) : refused(problem, false);',
  },
  {
    name: 'asked whether done while it may still be done',
    why: '"not done" is believed although what was asked before may still arrive',
    file: 'lib/core/advance.ts',
    find: "return mode === 'confirm' && until !== undefined && sentAt < until + clocksApartMs && isDefiniteRefusal(reply);",
    replace: "return mode === 'confirm' && until !== undefined && sentAt < 0 && isDefiniteRefusal(reply);",
  },
  {
    name: 'what was told to stop is begun again at once',
    why: 'a canceled step that is answered without saying whether it was done is run again while it may still be at work',
    file: windingUp,
    find: "if (runsAgain && local.mode === 'cancel' && local.completeBy > builder.event.at) return waitForCompleteBy(builder, path, local, reply);",
    replace: '',
  },
  {
    name: 'canceled work is given up before it ends',
    why: 'an agent says that it has given up as soon as it is told to stop, and throws the answer of its operation away',
    file: 'lib/roles/agent/deadline.ts',
    find: "const cancel = () => controller.abort(new RequestCanceled('This request is canceled.'));",
    replace: "const cancel = () => [controller.abort(new RequestCanceled('')), reject(new Error(''))];",
  },
  {
    name: 'canceled call tells nobody',
    why: 'a call that is canceled does not tell the order that it called',
    file: children,
    find: "if (message.type === 'cancel') return cancel(childIdOf(message.idempotencyKey));",
    replace: "if (message.type === 'cancel') return;",
  },
  {
    name: 'canceled call is asked and not canceled',
    why: 'who is asked about a call that is not wanted any more leaves it as it is',
    file: children,
    find: '    if (request.confirming) await cancel(child.order.orderId);\n',
    replace: '',
  },
  {
    name: 'called order begins after it was settled',
    why: 'that a call was not begun is answered and not held on to, and no call is too late to begin',
    file: children,
    find: settledAndLate,
    replace: "if (message.confirming) return fail(message, { type: 'NotDone', message: '', permanent: true });",
  },
  {
    name: 'done with another input',
    why: 'a step of a retry that was done counts as done in a later run, whatever it is to be requested with',
    file: 'lib/core/activities/step.ts',
    find: 'if (hasOtherInput(memo, input.value)) return replaceFormerRun(step, memo, context);',
    replace: '',
  },
  {
    name: 'own retry is none',
    why: 'only the built-in retry keeps what its runs have come to',
    file: 'lib/core/activities/index.ts',
    find: 'return absorbs !== undefined || reruns === true;',
    replace: "return activity === 'retry' && (absorbs !== undefined || reruns === true);",
  },
  {
    name: 'one key with two inputs',
    why: 'a step that reads what need not be there yet is asked again with what is there by then',
    file: 'lib/core/definition/template.ts',
    find: 'const changing = /\\bvars\\b|\\bsteps\\s*(?:\\.\\s*\\?|\\[\\s*\\?)/;',
    replace: 'const changing = /\\bvars\\b/;',
  },
];
