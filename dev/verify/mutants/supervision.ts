import type { Mutant } from './mutant.ts';

const judge = 'lib/roles/supervisor/judge.ts';
const act = 'lib/roles/supervisor/act.ts';

/** What is late: resets, expiries, what is counted. */
export const supervision: readonly Mutant[] = [
  {
    name: 'reset without observed completeBy',
    why: 'the reset is fenced by what stands there when it is written, not by the deadline that was seen to be over',
    file: act,
    find: 'const { outcome } = await store.patch({ ...next, rev: head.rev + 1 }, head);',
    replace:
      'const latest = (await store.head(head.orderId)) ?? head; const { outcome } = await store.patch({ ...next, rev: latest.rev + 1 }, latest);',
  },
  {
    name: 'reset without epoch',
    why: 'a reset leaves the epoch as it was, so answers to what was asked before still count',
    file: judge,
    find: '  epoch: head.epoch + 1,\n',
    replace: '',
  },
  {
    name: 'reset increments twice',
    why: 'one expiry counts as two failures',
    file: judge,
    find: 'const failures = (head.nextDueFor?.failures ?? 0) + 1;',
    replace: 'const failures = (head.nextDueFor?.failures ?? 0) + 2;',
  },
  {
    name: 'reset resets failureCount',
    why: 'after a reset the failures before it are forgotten, so the threshold is never reached',
    file: judge,
    find: "  notes: [...head.notes, { at: now, type: 'OrderReset', failureCount: failures }],",
    replace: "  notes: [...head.notes, { at: now, type: 'OrderReset', failureCount: 0 }],",
  },
  {
    name: 'threshold >/≥ slip',
    why: 'the order goes into Error one failure too early',
    file: judge,
    find: 'const exhausted = failures > head.maxFailures;',
    replace: 'const exhausted = failures >= head.maxFailures;',
  },
  {
    name: 'reset trusts GSI copy',
    why: 'the record itself is always asked; the same mistake is to believe the worklist that its time is over',
    file: judge,
    find: '  if (head.nextDueAt > now) return moveEntry(head, head.nextDueAt);\n',
    replace: '  now = Math.max(now, head.nextDueAt + clockToleranceMs);\n',
  },
  {
    name: 'retry counts throttle',
    why: 'the engine itself counts no attempts against a throttle; a lock is what it must not count: a deadline that passes while somebody has the order to himself is counted as a failure',
    file: judge,
    find: 'if (head.heldBy !== null && head.heldUntil !== null && head.heldUntil > now)',
    replace: "if (head.heldBy !== null && head.heldUntil !== null && head.heldUntil > now && head.nextDueFor.kind === 'timer')",
  },
  {
    name: 'poison counter not cleared',
    why: 'what failed before a message was handled after all counts on: no law of the worlds reads it, since an outage may leave it as well',
    file: 'lib/roles/dead-letters/outcome.ts',
    find: 'change(delivery, () => undefined, begun?.counts)',
    replace: 'void begun',
    suites: ['test/roles/poison.test.ts'],
  },
];

export const moreSupervision: readonly Mutant[] = [
  {
    name: 'failure counter not cleared',
    why: 'the counter of failures is not cleared when a person has decided, so the next delay is at once too much',
    file: 'lib/core/engine/lateness.ts',
    find: 'if (late !== undefined || waitsUntil !== undefined) builder.put(path, rest);',
    replace: 'void [path, rest];',
  },
  {
    name: 'poison given up, and not kept',
    why: 'what nobody can process is taken off its queue, and never comes to the dead letters',
    file: 'lib/roles/dead-letters/outcome.ts',
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
    name: 'what was late is not asked again',
    why: 'an expiry is counted, and nothing comes of it',
    file: 'lib/roles/scheduler/order-transition.ts',
    find: "    this.applyEvent({ type: 'expired' });\n",
    replace: '',
  },
  {
    name: 'the next step inherits the count',
    why: 'an expiry counts for the whole order, so that many steps which are late once each put it into Error',
    file: judge,
    find: 'const failures = (head.nextDueFor?.failures ?? 0) + 1;',
    replace: 'const failures = head.failureCount + 1;',
    suites: ['test/roles/supervisor/counting-steps.test.ts'],
  },
  {
    name: 'what was late together is not counted together',
    why: 'of steps that were requested in one instant and are late, one is counted, and all are requested again',
    file: 'lib/core/engine/lateness.ts',
    find: 'steps.filter(({ local }) => local.completeBy === named?.local.completeBy)',
    replace: 'steps.filter((step) => step === named)',
  },
  {
    name: 'long wait cut short',
    why: 'a step above its threshold is requested again as soon as another one is late: too rare in the worlds',
    file: 'lib/core/advance.ts',
    find: "if (builder.event.type === 'expired' && waitsLong(builder, path)) continue;",
    replace: '',
    suites: ['test/roles/supervisor/counting-steps.test.ts'],
  },
  {
    name: 'order reset as a whole is never undone',
    why: 'above the threshold an order that is reset as a whole, and is to be undone then, is asked again without end',
    file: 'lib/roles/scheduler/order-transition.ts',
    find: "onExhausted === 'undo') this",
    replace: "onExhausted === 'undo' && recover === 'step') this",
  },
];
