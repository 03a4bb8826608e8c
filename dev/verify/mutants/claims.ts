import type { Mutant } from './mutant.ts';

const sqlite = 'lib/adapters/sqlite/store.ts';
const draft = 'lib/roles/scheduler/order-transition.ts';
const writer = 'lib/roles/scheduler/writer.ts';

/** Who may write: claims, fences, leases. */
export const claims: readonly Mutant[] = [
  {
    name: 'claim without attribute_not_exists/lockedBy=null',
    why: 'an order is claimed although somebody has it already',
    file: draft,
    find: "processState === 'Pending' && lockedBy === null && !suspended;",
    replace: "processState !== 'Processed' && !suspended;",
  },
  {
    name: 'claim without epoch+1',
    why: 'only the first claim has a number of its own',
    file: draft,
    find: 'const epoch = this.record.epoch + 1;',
    replace: 'const epoch = this.record.epoch || 1;',
  },
  {
    name: 'finish without epoch check',
    why: 'an answer to an asking of an earlier claim still counts',
    file: 'lib/core/advance.ts',
    find: 'local.epoch === builder.event.epoch && requestIdOf',
    replace: 'requestIdOf',
  },
  {
    name: 'finish checks lockedBy only (ABA)',
    why: 'no write asks who has the order; the same mistake is a fence of the claim alone: what was written under it meanwhile is overwritten',
    file: sqlite,
    find: 'AND epoch = ? AND rev = ?',
    replace: 'AND epoch = ? AND rev >= ?',
  },
  {
    name: 'renew without expiry check',
    why: 'a lease that has run out is renewed, although others were at the order in between',
    file: 'lib/roles/scheduler/lease.ts',
    find: 'head.heldBy === holder && (head.heldUntil ?? 0) > clock.now() ?',
    replace: 'head.heldBy === holder ?',
  },
  {
    name: 'clock used for fencing',
    why: 'as long as its time is not over, by its own clock, a host takes the order for its own and overwrites what stands there',
    file: writer,
    find: 'const write = await store.update(record, loaded.record, { ...prepared.sentWithWrite, overflow });',
    replace:
      'const isMine = (record.completeBy ?? 0) > now; const write = await store.update(record, (isMine ? await store.head(record.orderId) : undefined) ?? loaded.record, { ...prepared.sentWithWrite, overflow });',
  },
];

export const moreClaims: readonly Mutant[] = [
  {
    name: 'orders go by whatever stands under their version',
    why: 'a workflow that was edited under the same version is taken for the one with which the order began',
    file: 'lib/roles/definitions/pinning.ts',
    find: '!pinned || pinned === hashOf(definition)',
    replace: 'true',
  },
  {
    name: 'write without its fence',
    why: 'whoever writes last wins',
    file: sqlite,
    find: 'AND epoch = ? AND rev = ?',
    replace: 'AND ? IS NOT NULL AND ? IS NOT NULL',
  },
  {
    name: 'lost race taken for a won one',
    why: 'a refused write is treated as if it had been made',
    file: writer,
    find: "if (write.outcome === 'refused' && !write.current?.writeIds.some((mine) => mine.id === id)) {",
    replace: "if (write.outcome === 'refused' && !write.current) {",
  },
  {
    name: 'own write not known again',
    why: 'the answer to a write is lost, and nobody looks whether it was his own that stands there',
    file: writer,
    find: "if (write.outcome === 'refused' && !write.current?.writeIds.some((mine) => mine.id === id)) {",
    replace: "if (write.outcome === 'refused') {",
  },
];
