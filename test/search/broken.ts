import { type Scenario, searched } from './scenarios.ts';

/** A line of the shipped code, and its broken form. */
export interface Broken {
  readonly what: string;
  readonly file: string;
  readonly line: string;
  readonly instead: string;
  /** The scenario that shows it. */
  readonly scenario: Scenario;
}

const small = searched({ schedulers: 1, supervisors: 1, copies: 1 });
const racing = searched({ supervisors: 1, copies: 1 });

/** Mistakes that the search must find: each is a way in which real systems of this kind break. */
export const broken: readonly Broken[] = [
  {
    what: 'the state is written without its fence',
    file: 'lib/roles/scheduler/writer.ts',
    line: 'await store.update(record, loaded.record, {',
    instead: 'await store.update(record, (await store.load(record.orderId))?.state ?? loaded.record, {',
    scenario: racing,
  },
  {
    what: 'a supervisor writes without its fence',
    file: 'lib/roles/supervisor/act.ts',
    line: 'rev: head.rev + 1 }, head)',
    instead: 'rev: head.rev + 1 }, (await store.head(head.orderId)) ?? head)',
    scenario: { ...small, hurries: 1 },
  },
  {
    what: 'a lost race counts as won',
    file: 'lib/roles/scheduler/writer.ts',
    line: "write.outcome === 'refused' && !write.current?.writeIds.some((mine) => mine.id === id)",
    instead: 'Number.isNaN(rev)',
    scenario: { ...racing, cancels: true },
  },
  {
    what: 'requests are sent before the state is written',
    file: 'lib/roles/scheduler/outbox-then-send.ts',
    line: 'await pageOut(loaded, pages);',
    instead: 'await pageOut(loaded, pages); await queues.send(sentWithPlan(loaded.order, planned, [], now).messages);',
    scenario: { ...racing, cancels: true },
  },
  {
    what: 'the outbox is cleared before it is sent',
    file: 'lib/roles/scheduler/sending.ts',
    line: 'unproven || !provenBy.some((requestId) => taken.includes(requestId))',
    instead: '!unproven && provenBy.length < 0 && taken.length < 0',
    scenario: { ...small, crashes: 1 },
  },
  {
    what: 'an order is claimed without a new epoch',
    file: 'lib/roles/scheduler/draft.ts',
    line: 'const epoch = draft.record.epoch + 1;',
    instead: 'const epoch = Math.max(1, draft.record.epoch);',
    scenario: { ...small, workflow: 'by-order', hurries: 1 },
  },
  {
    what: 'an order is reset without a new epoch',
    file: 'lib/roles/supervisor/judge.ts',
    line: 'epoch: head.epoch + 1,',
    instead: 'epoch: head.epoch,',
    scenario: { ...small, workflow: 'by-order', hurries: 1 },
  },
  {
    what: 'a step with an unknown outcome counts as not done',
    file: 'lib/core/engine/cancellation.ts',
    line: 'if (canBeUndone(builder, path) && isRemote(node)) return confirm(',
    instead: "if (local.epoch > 0) return close(builder, path, { result: 'Canceled' }); else if (isRemote(node)) return confirm(",
    scenario: { ...small, cancels: true, hurries: 1 },
  },
  {
    what: 'an order goes into Error without an alert',
    file: 'lib/roles/supervisor/escalate.ts',
    line: 'outbox: [...head.outbox, alert, ...(cause ? [cause.entry] : [])],',
    instead: 'outbox: [...(alert ? head.outbox : []), ...(cause ? [cause.entry] : [])],',
    scenario: { ...small, hurries: 2 },
  },
  {
    what: 'a repeated request has a new idempotency key',
    file: 'lib/core/activities/step.ts',
    line: ': requestAttempt(step, generation, attempt + 1, context, { input, limit, reason });',
    instead: ': requestAttempt(step, generation + 1, attempt + 1, context, { input, limit, reason });',
    scenario: { ...small, hurries: 1 },
  },
  {
    what: 'the late reply of a canceled step is dropped',
    file: 'lib/core/engine/cancellation.ts',
    line: "  if (reply.status === 'succeeded') {",
    instead:
      "  if (reply.status !== undefined) return close(builder, path, { result: 'Canceled' });\n  if (reply.status === 'succeeded') {",
    scenario: { ...small, cancels: true },
  },
  {
    what: 'an agent replies after its deadline',
    file: 'lib/roles/agent/agent.ts',
    line: 'if (deadline.isOver()) {',
    instead: 'if (deadline.at() === 0) {',
    scenario: { ...small, hurries: 2 },
  },
];
