import type { Mutant } from './mutant.ts';

const sqlite = 'lib/adapters/sqlite/order-writes.ts';
const draft = 'lib/roles/scheduler/draft.ts';
const writer = 'lib/roles/scheduler/writer.ts';

/** Mistakes about the right to write: claims, fences, leases. */
export const claims: readonly Mutant[] = [
  {
    name: 'a claim without the condition that no host owns the order',
    why: 'a host claims an order although another host has claimed it',
    file: 'lib/roles/scheduler/claiming.ts',
    find: "processState === 'Pending' && lockedBy === null && !suspended;",
    replace: "processState !== 'Processed' && !suspended;",
  },
  {
    name: 'a claim without a new epoch',
    why: 'all claims after the first one share its epoch',
    file: draft,
    find: 'const epoch = draft.record.epoch + 1;',
    replace: 'const epoch = draft.record.epoch || 1;',
  },
  {
    name: 'a reply is applied without a check of its epoch',
    why: 'a reply to a request of an earlier claim still counts',
    file: 'lib/core/engine/reply.ts',
    find: 'step.epoch === builder.event.epoch && requestIdOf',
    replace: 'requestIdOf',
  },
  {
    name: 'a write checks only who owns the order (ABA)',
    why: 'no write compares the owner; the equivalent mistake is a fence of the claim alone, which overwrites other writes under that claim',
    file: sqlite,
    find: 'AND epoch = ? AND rev = ?',
    replace: 'AND epoch = ? AND rev >= ?',
  },
  {
    name: 'a lease is renewed without a check of its end',
    why: 'an expired lease is renewed, although another host had it in between',
    file: 'lib/roles/scheduler/lease.ts',
    find: 'head.heldBy === holder && (head.heldUntil ?? 0) > clock.now() ?',
    replace: 'head.heldBy === holder ?',
  },
  {
    name: 'a clock takes the place of the fence',
    why: 'a host overwrites the record as long as its own clock says that its lease lasts',
    file: writer,
    find: 'const write = await store.update(record, loaded.record, { ...prepared.sentWithWrite, overflow, documents: beside(record) });',
    replace:
      'const isMine = (record.completeBy ?? 0) > now; const write = await store.update(record, (isMine ? await store.head(record.orderId) : undefined) ?? loaded.record, { ...prepared.sentWithWrite, overflow, documents: beside(record) });',
  },
];

export const moreClaims: readonly Mutant[] = [
  {
    name: 'orders follow whatever definition their version has now',
    why: 'a workflow that was edited under its version counts as the one with which the order began',
    file: 'lib/roles/definitions/pinning.ts',
    find: '!pinned || pinned === hashOf(definition)',
    replace: 'true',
  },
  {
    name: 'write without its fence',
    why: 'the last writer wins',
    file: sqlite,
    find: 'AND epoch = ? AND rev = ?',
    replace: 'AND ? IS NOT NULL AND ? IS NOT NULL',
  },
  {
    name: 'lost race taken for a won one',
    why: 'a refused write counts as made',
    file: writer,
    find: "if (write.outcome === 'refused' && !write.current?.writeIds.some((mine) => mine.id === id)) {",
    replace: "if (write.outcome === 'refused' && !write.current) {",
  },
  {
    name: 'own write not recognized',
    why: 'when the answer to a write is lost, the host does not check whether the record is its own write',
    file: writer,
    find: "if (write.outcome === 'refused' && !write.current?.writeIds.some((mine) => mine.id === id)) {",
    replace: "if (write.outcome === 'refused') {",
  },
  {
    name: 'a step waits for the outage of another agent',
    why: 'the deadline of an order always names its first late step, and the supervisor puts that one off again',
    file: 'lib/roles/scheduler/deadlines.ts',
    find: 'return { ...step, at: until, for: { ...step.for, waitingSince } };',
    replace: 'return step;',
    suites: ['test/roles/supervisor/behind-a-closed-channel.test.ts'],
  },
];
