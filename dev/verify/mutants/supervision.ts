import type { Mutant } from './mutant.ts';

const judge = 'lib/roles/supervisor/judge.ts';
const act = 'lib/roles/supervisor/act.ts';

/** Mistakes about late steps: resets, expiries, counts. */
export const supervision: readonly Mutant[] = [
  {
    name: 'a reset is not fenced by the deadline that it has seen',
    why: 'the reset is fenced by the current record instead of the deadline that was seen to have passed',
    file: act,
    find: 'const { outcome } = await store.patch({ ...next, rev: head.rev + 1 }, head);',
    replace:
      'const latest = (await store.head(head.orderId)) ?? head; const { outcome } = await store.patch({ ...next, rev: latest.rev + 1 }, latest);',
  },
  {
    name: 'a reset keeps the epoch',
    why: 'a reset keeps the epoch, so replies to earlier requests still count',
    file: judge,
    find: '  epoch: head.epoch + 1,\n',
    replace: '',
  },
  {
    name: 'a reset counts two failures',
    why: 'one expiry counts as two failures',
    file: judge,
    find: 'const failures = (head.nextDueFor?.failures ?? 0) + 1;',
    replace: 'const failures = (head.nextDueFor?.failures ?? 0) + 2;',
  },
  {
    name: 'a reset clears the failure count',
    why: 'a reset forgets the earlier failures, so the threshold is never reached',
    file: judge,
    find: "  notes: [...head.notes, { at: now, type: 'OrderReset', failureCount: failures }],",
    replace: "  notes: [...head.notes, { at: now, type: 'OrderReset', failureCount: 0 }],",
  },
  {
    name: 'the failure limit counts as exceeded when it is reached (≥ instead of >)',
    why: 'the order goes into Error one failure too early',
    file: judge,
    find: 'const exhausted = failures > head.maxFailures;',
    replace: 'const exhausted = failures >= head.maxFailures;',
  },
  {
    name: 'the supervisor trusts the copy of a deadline in an index',
    why: 'the supervisor always reads the record itself; the equivalent mistake is to trust the deadline in the worklist',
    file: judge,
    find: '  if (head.nextDueAt > now) return moveEntry(head, head.nextDueAt);\n',
    replace: '  now = Math.max(now, head.nextDueAt + clockToleranceMs);\n',
  },
  {
    name: 'a failure is counted that is none, such as a throttle',
    why: 'the engine counts no attempts against a throttle; the equivalent mistake is to count a deadline that passes while another host holds the lease',
    file: judge,
    find: 'if (head.heldBy !== null && head.heldUntil !== null && head.heldUntil > now)',
    replace: "if (head.heldBy !== null && head.heldUntil !== null && head.heldUntil > now && head.nextDueFor.kind === 'timer')",
  },
  {
    name: 'a success does not clear the failure count of a message',
    why: 'failures before a success of a message still count: only in worlds with consumers does a law follow the counts',
    file: 'lib/roles/dead-letters/outcome.ts',
    find: 'failureCounts.correct(delivery, () => undefined, begun?.counts)',
    replace: 'void begun',
    suites: ['test/roles/poison.test.ts'],
  },
];

export const moreSupervision: readonly Mutant[] = [
  {
    name: 'failure counter not cleared',
    why: "the failure count is not cleared after an operator's instruction, so the next late step exceeds the threshold",
    file: 'lib/core/engine/lateness.ts',
    find: 'builder.put(path, hasFailed ? { ...rest, waitsUntil: Math.min(waitsUntil, builder.event.at) } : rest);',
    replace: 'void [path, rest, hasFailed];',
  },
  {
    name: 'poison message dropped, and not kept',
    why: 'a message that cannot be processed leaves its queue without becoming a dead letter',
    file: 'lib/roles/dead-letters/hand-over.ts',
    find: 'await queues.send([{ queue: queueNames.deadLetters(queue), body: poison, ...groupOf(delivery) }]);',
    replace: 'void poison;',
  },
  {
    name: 'expiry counted before its time',
    why: 'the tolerance for clocks is subtracted instead of added',
    file: judge,
    find: 'return head.nextDueAt + clockToleranceMs > now ? leave',
    replace: 'return head.nextDueAt - clockToleranceMs > now ? leave',
  },
  {
    name: 'a late step is not requested again',
    why: 'an expiry is counted, and no request follows',
    file: 'lib/roles/scheduler/supervisor-notes.ts',
    find: "applyEvent(dealWithExhaustion(draft), { type: 'expired' })",
    replace: 'dealWithExhaustion(draft)',
  },
  {
    name: 'the next step inherits the count',
    why: 'an expiry counts for the whole order, so many steps that are late once each put it into Error',
    file: judge,
    find: 'const failures = (head.nextDueFor?.failures ?? 0) + 1;',
    replace: 'const failures = head.failureCount + 1;',
    suites: ['test/roles/supervisor/counting-steps.test.ts'],
  },
  {
    name: 'steps that are late together are not counted together',
    why: 'of steps that were requested at the same time and are late, one is counted, and all are requested again',
    file: 'lib/core/engine/lateness.ts',
    find: 'steps.filter(({ local }) => local.completeBy === named?.local.completeBy)',
    replace: 'steps.filter((step) => step === named)',
  },
  {
    name: 'long wait cut short',
    why: 'a step above its threshold is requested again as soon as another one is late: too rare in the worlds',
    file: 'lib/core/engine/repetition.ts',
    find: "if (builder.event.type === 'expired' && isPausing(builder, path)) continue;",
    replace: '',
    suites: ['test/roles/supervisor/counting-steps.test.ts'],
  },
  {
    name: 'order reset as a whole is never undone',
    why: 'above the threshold, an order that is reset as a whole and should be undone is requested again without end',
    file: 'lib/roles/scheduler/supervisor-notes.ts',
    find: "onExhausted === 'undo') return",
    replace: "onExhausted === 'undo' && recover === 'step') return",
  },
];
