import type { Mutant } from './mutant.ts';

const reply = 'lib/core/engine/reply.ts';

/** Mistakes about which replies count, and how often. */
export const replies: readonly Mutant[] = [
  {
    name: 'a reply is accepted by its path, without its request id',
    why: 'the reply to an earlier request of a step counts as the reply to the latest one',
    file: reply,
    find: 'return step.epoch === builder.event.epoch && requestIdOf(builder.subject.orderId, path, step) === requestId ? path : undefined;',
    replace: 'return step.epoch === builder.event.epoch ? path : undefined;',
  },
  {
    name: 'a second copy of a reply continues the order',
    why: 'each request has its own id, so a copy finds nothing to answer, unless the check for answered requests is missing',
    file: reply,
    find: "if (step?.phase !== 'requested') return undefined;",
    replace: 'if (step === undefined) return undefined;',
  },
  {
    name: 'a late reply of a canceled step is dropped, and its effect stays',
    why: 'a canceled step that was done after all is not undone',
    file: 'lib/core/engine/cancellation.ts',
    find: 'if (canBeUndone(builder, path)) return undoLate(builder, path, local, reply.output);',
    replace: "if (canBeUndone(builder, path)) return close(builder, path, { result: 'Canceled' });",
  },
];

export const moreReplies: readonly Mutant[] = [
  {
    name: 'a queue gives up after five deliveries',
    why: 'an outage of some minutes turns valid messages into dead letters',
    file: 'lib/ports/limits.ts',
    find: 'deliveriesMax: 1_000,',
    replace: 'deliveriesMax: 5,',
  },
  {
    name: 'a request is served however late it arrives',
    why: 'an agent uses the remaining time at the sending of a request instead of its deadline, so a request may run days late',
    file: 'lib/roles/agent/deadline.ts',
    find: 'let at = Math.min(Date.parse(completeBy), clock.now() + remainingMs);',
    replace: 'let at = Math.max(Date.parse(completeBy), clock.now() + remainingMs);',
  },
  {
    name: 'an expired request is tried again',
    why: 'an agent calls its service for a request that arrives more than an hour after its deadline, without a log line',
    file: 'lib/roles/agent/deadline.ts',
    find: 'let at = Math.min(Date.parse(completeBy), clock.now() + remainingMs);',
    replace:
      'let at = Math.min(Date.parse(completeBy), clock.now() + remainingMs); const { now } = clock; const lateMs = now() - at; if (lateMs > 3_600_000) clock = { ...clock, now: () => now() - lateMs - 1 };',
  },
  {
    name: 'a message with a transient failure stays invisible',
    why: 'a failed message is redelivered only after its visibility timeout, which may be longer than the time of its step',
    file: 'lib/roles/dead-letters/outcome.ts',
    find: 'if (isAgain) await redeliverSoon(',
    replace: 'if (isAgain && begun) await redeliverSoon(',
  },
  {
    name: 'a reply that confirms an unknown outcome is dropped',
    why: 'the reply of an earlier attempt that succeeded is ignored, although no later attempt can learn that',
    file: reply,
    find: 'return isBlocked || isOnce ? path : undefined;',
    replace: 'return isBlocked && isOnce ? path : undefined;',
  },
  {
    name: 'a repeated signal counts again',
    why: 'a signal that is sent again under the same key is accepted a second time',
    file: 'lib/roles/operator/instruct.ts',
    find: 'const before = await callKeys.before(orderId, loaded.instance, key);',
    replace: 'const before = await callKeys.before(orderId, { ...loaded.instance, keys: [] }, key);',
  },
  {
    name: 'a repeated instruction counts again',
    why: 'an order does not keep the keys of instructions, so a caller that got no answer and repeats its call instructs the order twice',
    file: 'lib/roles/scheduler/apply-message.ts',
    find: 'const noted = addFacts({ ...draft, instance: withKey(draft.instance, key) }, [given]);',
    replace: 'const noted = addFacts({ ...draft, instance: withKey(draft.instance, undefined && key) }, [given]);',
  },
  {
    name: 'agent replies after its deadline',
    why: 'an agent replies although another attempt may run by now',
    file: 'lib/roles/agent/agent.ts',
    find: 'if (deadline.isOver()) {',
    replace: 'if (deadline.isOver() && !result) {',
  },
  {
    name: 'an at-most-once request runs despite its intent',
    why: 'an at-most-once operation is called again when its first reply was lost',
    file: 'lib/roles/agent/execute.ts',
    find: "if (note.outcome === 'refused') {",
    replace: "if (note.outcome === 'refused' && note.requestId === request.requestId) {",
  },
  {
    name: 'a programming error opens the breaker',
    why: 'an error in the code of one operation stops the calls of a healthy service: no operation of the worlds has one',
    file: 'lib/roles/agent/retry.ts',
    find: 'else if (isProgrammingError(error)) permit.release();',
    replace: 'else if (error === undefined) permit.release();',
    suites: ['test/roles/operation-errors.test.ts'],
  },
  {
    name: 'a fault quotes a secret input',
    why: 'a service quotes its input in a refusal, and the history, the task and the message to people show it',
    file: 'lib/roles/agent/secrets.ts',
    find: "if (result.status === 'failed') return withoutInputSecrets(result, secrets);",
    replace: "if (result.status === 'failed') return withoutInputSecrets(result, []);",
  },
];
