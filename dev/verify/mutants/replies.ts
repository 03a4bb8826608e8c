import type { Mutant } from './mutant.ts';

const advance = 'lib/core/advance.ts';

/** Which answers count, and how often. */
export const replies: readonly Mutant[] = [
  {
    name: 'reply accepted by path only (no requestId)',
    why: 'an answer to an older asking of a step is taken for that to the latest',
    file: advance,
    find: 'return local.epoch === builder.event.epoch && requestIdOf(builder.subject.orderId, path, local) === requestId ? path : undefined;',
    replace: 'return local.epoch === builder.event.epoch ? path : undefined;',
  },
  {
    name: 'duplicate reply advances',
    why: 'each asking has an id of its own, so a copy finds nothing to answer; unless nobody looks whether it was answered already',
    file: advance,
    find: "if (local?.phase !== 'requested') return undefined;",
    replace: 'if (local === undefined) return undefined;',
  },
  {
    name: 'late reply after cancel dropped (leak of a done effect)',
    why: 'a step that was canceled answers that it is done, and is not undone',
    file: 'lib/core/engine/lifecycle.ts',
    find: 'if (canBeUndone(builder, path)) return undoLate(builder, path, local, reply.output);',
    replace: "if (canBeUndone(builder, path)) return builder.close(path, { result: 'Canceled' });",
  },
];

export const moreReplies: readonly Mutant[] = [
  {
    name: 'a queue gives up after five deliveries',
    why: 'an outage of some minutes makes dead letters of messages that were good',
    file: 'lib/ports/limits.ts',
    find: 'deliveriesMax: 1_000,',
    replace: 'deliveriesMax: 5,',
  },
  {
    name: 'a request is served whenever it comes',
    why: 'an agent goes by the time that was left when a request was sent, and not by when it must be complete: it may come days late',
    file: 'lib/roles/agent/deadline.ts',
    find: 'let at = Math.min(Date.parse(completeBy), clock.now() + remainingMs);',
    replace: 'let at = Math.max(Date.parse(completeBy), clock.now() + remainingMs);',
  },
  {
    name: 'what is over for long is tried once more',
    why: 'an agent calls its service once for a request that comes more than an hour after its time, and says nothing of it',
    file: 'lib/roles/agent/deadline.ts',
    find: 'let at = Math.min(Date.parse(completeBy), clock.now() + remainingMs);',
    replace:
      'let at = Math.min(Date.parse(completeBy), clock.now() + remainingMs); const { now } = clock; const lateMs = now() - at; if (lateMs > 3_600_000) clock = { ...clock, now: () => now() - lateMs - 1 };',
  },
  {
    name: 'what failed in passing stays hidden',
    why: 'a message that was not processed comes again when its visibility is over: its step may not live so long',
    file: 'lib/roles/dead-letters/outcome.ts',
    find: 'if (isAgain) await redeliverSoon(',
    replace: 'if (isAgain && begun) await redeliverSoon(',
  },
  {
    name: 'an answer that ends the doubt is thrown away',
    why: 'an earlier attempt was done, and its answer is ignored although no later attempt can find that out',
    file: 'lib/core/advance.ts',
    find: 'return isBlocked || isOnce ? path : undefined;',
    replace: 'return isBlocked && isOnce ? path : undefined;',
  },
  {
    name: 'signal counts again',
    why: 'a signal that is sent again under the same key is let in a second time',
    file: 'lib/roles/operator/instruct.ts',
    find: 'const before = await callKeys.before(orderId, loaded.instance, key);',
    replace: 'const before = await callKeys.before(orderId, { ...loaded.instance, keys: [] }, key);',
  },
  {
    name: 'agent answers after its time',
    why: 'an agent answers although another asking may be at work by now',
    file: 'lib/roles/agent/agent.ts',
    find: 'if (deadline.isOver()) {',
    replace: 'if (deadline.isOver() && !result) {',
  },
  {
    name: 'atMostOnce asks although it was noted',
    why: 'what must not be asked for twice is asked for again when its first answer was lost',
    file: 'lib/roles/agent/execute.ts',
    find: "if (note.outcome === 'refused') {",
    replace: "if (note.outcome === 'refused' && note.requestId === request.requestId) {",
  },
];
