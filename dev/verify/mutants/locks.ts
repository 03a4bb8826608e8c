import type { Mutant } from './mutant.ts';

const inbox = 'lib/roles/scheduler/inbox.ts';

/** Mistakes about a person's lock on an order: its owner, and the messages that meet it. */
export const locks: readonly Mutant[] = [
  {
    name: 'a lock is given although another person holds it',
    why: 'two people work on one order, and each believes to be alone',
    file: 'lib/roles/operator/locking.ts',
    find: 'if (record.heldBy !== personHolder(by)) refuseHeld(record, hostId, now);',
    replace: '',
  },
  {
    name: 'a former holder of a lock instructs the order of another',
    why: 'an instruction checks for the lease of a host, and not for the lock of a person',
    file: 'lib/roles/operator/instruct.ts',
    find: 'const isOthers = !isLockedBy(how.caller, loaded) && isHeldByOther(loaded.record, hostId, now);',
    replace: 'const isOthers = lockHolderOf(loaded.record) === undefined && isHeldByOther(loaded.record, hostId, now);',
  },
  {
    name: 'a message that met a lock is forgotten and not sent',
    why: 'the inbox is emptied when the lock ends',
    file: inbox,
    find: 'await queues.send(kept.map(({ content }) => content as unknown as Outgoing));',
    replace: '',
  },
  {
    name: 'messages that met a lock stay when it ends',
    why: 'the write after the lock does not take up the inbox',
    file: inbox,
    find: 'before.state.stillSince !== undefined && after.state.stillSince === undefined',
    replace: 'before.state.stillSince === undefined && after.state.stillSince === undefined',
  },
  {
    name: 'a message that meets a lock is acknowledged before it is kept',
    why: 'the function answers while the inbox is written, and a crash between the two loses the message',
    file: 'lib/roles/scheduler/accept.ts',
    find: 'await keepWhileLocked(options, orderId, again);',
    replace: 'void keepWhileLocked(options, orderId, again).catch(() => undefined);',
  },
  {
    name: 'the lock of a suspended order never ends',
    why: 'the supervisor leaves a suspended order alone when its lock is over',
    file: 'lib/roles/supervisor/judge.ts',
    find: "new Set(['outbox', 'handler', 'lock'])",
    replace: "new Set(['outbox', 'handler'])",
  },
];
