import type { Mutant } from './mutant.ts';

const accept = 'lib/roles/scheduler/accept.ts';
const outboxThenSend = 'lib/roles/scheduler/outbox-then-send.ts';
const plannedWrite = 'lib/roles/scheduler/planned-write.ts';
const batch = 'lib/roles/dead-letters/batch.ts';

/** Mistakes about writing first and sending after: the outbox, acknowledgements, notifications of clients and people. */
export const sending: readonly Mutant[] = [
  {
    name: 'requests are sent before the write',
    why: 'requests go out before the write that they follow from',
    file: outboxThenSend,
    find: 'await pageOut(loaded, pages);',
    replace: 'await pageOut(loaded, pages); await queues.send(sentWithPlan(loaded.order, planned, [], now).messages);',
  },
  {
    name: 'the outbox is cleared before its entries are sent',
    why: 'an entry that is being sent counts as sent',
    file: outboxThenSend,
    find: 'const acknowledged = await sendEntries(untried, portsFor(ports, saved));',
    replace: 'const acknowledged = new Set(record.outbox.map((entry) => entry.id)); void sendEntries(untried, portsFor(ports, saved));',
  },
  {
    name: 'the outbox is cleared by index instead of id',
    why: 'the outbox loses as many entries as were sent, from its front',
    file: outboxThenSend,
    find: 'await changeOutbox(saved, record, (entry) => (isOpen(entry) ? [entry] : []), ports);',
    replace: 'await changeOutbox(saved, record, (entry, index) => (index >= acknowledged.size ? [entry] : []), ports);',
  },
  {
    name: 'a message is acknowledged before the write',
    why: 'the function answers before the order is written, so its messages are acknowledged too early',
    file: 'functions/scheduler.ts',
    find: 'await scheduler.accept(',
    replace: 'void scheduler.accept(',
  },
  {
    name: 'a batch names its failed messages by a wrong id',
    why: 'failed records are named by their receipt instead of their id, so they count as processed',
    file: batch,
    find: 'again.map(({ messageId }) => messageId),',
    replace: 'again.map(({ receipt }) => receipt),',
  },
  {
    name: 'a batch without a processed message counts as processed',
    why: 'a batch in which everything failed is answered as if everything had succeeded',
    file: batch,
    find: 'return { batchItemFailures: again.filter',
    replace: 'if (again.length === event.Records.length) return { batchItemFailures: [] };\n  return { batchItemFailures: again.filter',
  },
  {
    name: 'a delay of more than 15 minutes goes to SQS as it is',
    why: 'a delay beyond the maximum of queues is passed on unchanged',
    file: 'lib/roles/scheduler/sent-along.ts',
    find: 'delayMs: Math.min(Math.max(0, at - now), delayMaxMs),',
    replace: 'delayMs: Math.max(0, at - now),',
  },
  {
    name: 'an alert is sent beside the write',
    why: 'alerts are sent beside the write instead of being stored in it',
    file: outboxThenSend,
    find: 'outbox: [...kept, ...added, ...undeliverableAlerts(loaded.record, givenUp, now)],',
    replace:
      "outbox: (void sendEntries(planned.outbox.filter((entry) => entry.kind !== 'status'), portsFor(ports, loaded)), [...kept, ...added.filter((entry) => entry.kind === 'status')]),",
  },
  {
    name: 'all alerts of an order have one id',
    why: 'the second alert of an order has the id of the first, and counts as a repetition',
    file: plannedWrite,
    find: `\`\${announcedAs(inError.record)}#\${errorGen}\`, fault`,
    replace: 'announcedAs(inError.record), fault',
  },
  {
    name: 'a client gets a status message after the last one',
    why: 'a client that was notified of the end of its order is notified afterwards that it is delayed',
    file: plannedWrite,
    find: "sendStatus(announced, outcome === 'completed' ? 'completed' : 'failed')",
    replace:
      "[sendStatus(announced, outcome === 'completed' ? 'completed' : 'failed')].map((sent) => sent.record.errorGen > 0 ? sendStatus(sent, 'delayed') : sent)[0] as Draft",
  },
  {
    name: 'a client gets the status `failed` for a blocked order',
    why: 'the client of an order that waits for a person is notified that it has failed',
    file: plannedWrite,
    find: "sendStatus(alertBlocked(draft, 'Workflow Terminated', id, fault), 'delayed')",
    replace: "sendStatus(alertBlocked(draft, 'Workflow Terminated', id, fault), 'failed')",
  },
  {
    name: 'the FailedEntryCount of PutEvents is ignored',
    why: 'entries of a request that the bus refused count as accepted',
    file: 'lib/adapters/aws/eventbridge.ts',
    find: 'if (FailedEntryCount === 0) return [];',
    replace: 'if (FailedEntryCount >= 0) return [];',
    suites: ['test/adapters/aws/eventbridge.test.ts'],
  },
];

export const moreSending: readonly Mutant[] = [
  {
    name: 'a write leaves out its entry of the audit',
    why: 'an instruction is carried out, and nobody can see who gave it',
    file: 'lib/roles/scheduler/writer.ts',
    find: 'overflow, documents: beside(record) });',
    replace: 'overflow });',
  },
  {
    name: 'an entry of the audit shows the values after as those before',
    why: 'nobody can see what an instruction has changed',
    file: 'lib/roles/operator/instruct.ts',
    find: 'beside(loaded.record, after)',
    replace: 'beside(after, after)',
  },
  {
    name: 'alerts of a resubmitted key count as sent',
    why: 'an order under the key of a forgotten one has the ids of its announcements: too rare in the worlds',
    file: 'lib/ports/records.ts',
    find: '`${orderId}@${submittedAt}`',
    replace: 'submittedAt ? orderId : orderId',
    suites: ['test/roles/forgotten-orders.test.ts'],
  },
  {
    name: 'effects of a resubmitted key count as done',
    why: 'an order under the key of a forgotten one has the idempotency keys of its effects: no world forgets an order before its end',
    file: 'lib/roles/submission/submission.ts',
    find: 'forgets || (await store.hasForgotten())',
    replace: 'forgets && !forgets',
    suites: ['test/roles/forgotten-orders.test.ts'],
  },
  {
    name: 'called order forgotten before its caller',
    why: 'the retention of a called order counts from its own end: its caller can neither undo it nor request its result',
    file: 'lib/adapters/sqlite/forgetting.ts',
    find: 'isKept === 0',
    replace: 'isKept >= 0',
  },
  {
    name: 'sweep without a position',
    why: 'a sweep that was interrupted starts over each time, and never reaches the later orders',
    file: 'lib/roles/supervisor/sweep.ts',
    find: 'for (let after = placeIn(noted); ; ) {',
    replace: 'for (let after: string | undefined; ; ) {',
    suites: ['test/roles/supervisor/sweeping.test.ts'],
  },
  {
    name: 'entries that the bus refused count as accepted',
    why: 'the result of the publisher is ignored',
    file: 'lib/roles/scheduler/outbox.ts',
    find: 'announcedBy(entry).every(({ id }) => !failed.includes(id));',
    replace: 'announcedBy(entry).every(({ id }) => id || failed);',
  },
  {
    name: 'outbox cleared by a reply that proves nothing',
    why: 'an entry that could not be sent counts as sent when any reply arrives',
    file: 'lib/roles/scheduler/sending.ts',
    find: 'unproven || !provenBy.some((requestId) => taken.includes(requestId))',
    replace: 'unproven !== true && !provenBy.some((requestId) => taken.includes(requestId))',
  },
  {
    name: 'outbox without a deadline',
    why: 'an outbox with entries sets no deadline',
    file: 'lib/roles/scheduler/deadlines.ts',
    find: '...(record.outbox.length > 0 ?',
    replace: '...(record.outbox.length < 0 ?',
  },
  {
    name: 'alert left out',
    why: 'an order goes into Error without an alert',
    file: 'lib/roles/supervisor/escalate.ts',
    find: 'outbox: [...head.outbox, alert, ',
    replace: 'outbox: [...head.outbox, ',
  },
  {
    name: 'client notified twice of the end',
    why: 'the end is sent once more under another number',
    file: plannedWrite,
    find: "sendStatus(announced, outcome === 'completed' ? 'completed' : 'failed')",
    replace:
      "sendStatus(sendStatus(announced, outcome === 'completed' ? 'completed' : 'failed'), outcome === 'completed' ? 'completed' : 'failed')",
  },
  {
    name: 'journal pages not written',
    why: 'entries that leave the tail of the journal are not written to a page',
    file: outboxThenSend,
    find: '...(page ? [store.putPage(orderId, rev, page)] : []),',
    replace: '',
  },
  {
    name: 'repeated message sends nothing',
    why: 'after a crash between a write and its sends, the redelivered message does not lead to the sends that are missing',
    file: accept,
    find: 'incoming.some(({ id }) => record.lastBy.includes(id));',
    replace: 'false && incoming.some(({ id }) => record.lastBy.includes(id));',
  },
  {
    name: 'loops begin all turns at once',
    why: 'a loop without a declared limit runs all of its turns at once: the lists of the worlds are too short',
    file: 'lib/core/activities/for-each.ts',
    find: '(loop.maxConcurrency ?? limits.concurrencyDefault) - open',
    replace: '(loop.maxConcurrency ?? count) - open',
    suites: ['test/roles/wide-orders.test.ts'],
  },
  {
    name: 'loops run without portions',
    why: 'a loop without steps runs all of its turns in one transition: the worlds have no such loop',
    file: 'lib/core/engine/transition-builder.ts',
    find: 'return Math.max(0, limits.portionMax - this.startedCount);',
    replace: 'return Number.POSITIVE_INFINITY;',
    suites: ['test/roles/portions.test.ts'],
  },
  {
    name: 'refusals of the store are retried',
    why: 'a write that no store will ever accept is retried forever: the messages of the worlds are small',
    file: 'lib/roles/dead-letters/classify.ts',
    find: 'error instanceof UnprocessableMessage || error instanceof StoreRefusesError',
    replace: 'error instanceof UnprocessableMessage',
    suites: ['test/roles/size-limits.test.ts'],
  },
  {
    name: 'inputs without a limit',
    why: 'a call is requested with more than an item can hold: the inputs of the worlds are small',
    file: 'lib/core/engine/step-attempts.ts',
    find: 'if (fits(input, limits.inputBytesMax)) return undefined;',
    replace: 'if (fits(input, limits.inputBytesMax) || input !== null) return undefined;',
    suites: ['test/roles/size-limits.test.ts'],
  },
];
