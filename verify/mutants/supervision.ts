import type { Mutant } from './mutant.ts';

const supervisor = 'lib/supervisor.ts';

/** What is late: resets, expiries, what is counted. */
export const supervision: readonly Mutant[] = [
  {
    name: 'reset without observed completeBy',
    why: 'the reset is fenced by what stands there when it is written, not by the deadline that was seen to be over',
    file: supervisor,
    find: 'const write = await store.patch({ ...next, rev: head.rev + 1, updatedAt: clock.now() }, head);',
    replace:
      'const latest = (await store.head(head.orderId)) ?? head; const write = await store.patch({ ...next, rev: latest.rev + 1, updatedAt: clock.now() }, latest);',
  },
  {
    name: 'reset without epoch',
    why: 'a reset leaves the epoch as it was, so answers to what was asked before still count',
    file: supervisor,
    find: '        epoch: head.epoch + 1,\n',
    replace: '',
  },
  {
    name: 'reset increments twice',
    why: 'one expiry counts as two failures',
    file: supervisor,
    find: 'const failureCount = head.failureCount + 1;',
    replace: 'const failureCount = head.failureCount + 2;',
  },
  {
    name: 'reset resets failureCount',
    why: 'after a reset the failures before it are forgotten, so the threshold is never reached',
    file: supervisor,
    find: "        failureCount,\n        notes: [...head.notes, { at: now, type: 'OrderReset', failureCount }],",
    replace: "        failureCount: 0,\n        notes: [...head.notes, { at: now, type: 'OrderReset', failureCount }],",
  },
  {
    name: 'threshold >/≥ slip',
    why: 'the order goes into Error one failure too early',
    file: supervisor,
    find: 'const exhausted = failureCount > head.maxFailures;',
    replace: 'const exhausted = failureCount >= head.maxFailures;',
  },
  {
    name: 'reset trusts GSI copy',
    why: 'the record itself is always asked; the same mistake is to believe the worklist that its time is over',
    file: supervisor,
    find: '    const now = clock.now();\n    if (head.nextDueAt > now)',
    replace: '    const now = Math.max(clock.now(), head.nextDueAt + clockToleranceMs);\n    if (head.nextDueAt > now)',
  },
  {
    name: 'retry counts throttle',
    why: 'the engine itself counts no attempts against a throttle; a lock is what it must not count: a deadline that passes while somebody has the order to himself is counted as a failure',
    file: supervisor,
    find: 'if (head.heldBy !== null && head.heldUntil !== null && head.heldUntil > now)',
    replace: "if (head.heldBy !== null && head.heldUntil !== null && head.heldUntil > now && head.nextDueFor.kind === 'timer')",
  },
  {
    name: 'poison counter not cleared',
    why: 'what failed before a message was handled after all counts on: no law of the worlds reads it, since an outage may leave it as well',
    file: 'lib/poison/judge.ts',
    find: 'change(delivery, () => undefined, begun?.known)',
    replace: 'void begun',
    suites: ['test/roles/poison.test.ts'],
  },
];

export const moreSupervision: readonly Mutant[] = [
  {
    name: 'failure counter not cleared',
    why: 'the counter of failures is not cleared when a person has decided, so the next delay is at once too much',
    file: 'lib/order-draft.ts',
    find: "this.set({ processState: 'Processing', fault: null, failureCount: 0, suspended: false });",
    replace: "this.set({ processState: 'Processing', fault: null, suspended: false });",
  },
  {
    name: 'poison given up, and not kept',
    why: 'what nobody can process is taken off its queue, and never comes to the dead letters',
    file: 'lib/poison/judge.ts',
    find: 'await channel.send([{ queue: queues.deadLetters(queue), body: poison, ...groupOf(delivery) }]);',
    replace: 'void poison;',
  },
  {
    name: 'expiry counted before its time',
    why: 'the tolerance for clocks is subtracted instead of added',
    file: supervisor,
    find: 'if (head.nextDueAt + clockToleranceMs > now) return;',
    replace: 'if (head.nextDueAt - clockToleranceMs > now) return;',
  },
  {
    name: 'what was late is not asked again',
    why: 'an expiry is counted, and nothing comes of it',
    file: 'lib/order-draft.ts',
    find: "    this.happen({ type: 'expired' });\n",
    replace: '',
  },
  {
    name: 'order reset as a whole is never undone',
    why: 'above the threshold an order that is reset as a whole, and is to be undone then, is asked again without end',
    file: 'lib/order-draft.ts',
    find: "if (onExhausted === 'undo') this",
    replace: "if (onExhausted === 'undo' && nextDueFor?.path !== undefined) this",
  },
];
