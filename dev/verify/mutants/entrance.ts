import type { Mutant } from './mutant.ts';

const submission = 'lib/roles/submission/submission.ts';

/** Mistakes about input: orders, instructions, and records of other versions. */
export const entrance: readonly Mutant[] = [
  {
    name: 'a submission is two writes instead of one transaction',
    why: 'an order and its state are written one after the other: a crash in between leaves half of it',
    file: 'lib/adapters/sqlite/order-writes.ts',
    find: "        insertState.run(...columns, state.blob, lastInsertRowid);\n        records.put(sentWithWrite.records);\n        send(sentWithWrite);\n        return { outcome: 'written' as const };\n      });",
    replace:
      "        return { outcome: 'written' as const, columns, lastInsertRowid };\n      });\n      if ('lastInsertRowid' in answer) await database.write(() => { insertState.run(...answer.columns, state.blob, answer.lastInsertRowid); send(sentWithWrite); });",
  },
  {
    name: 'submissions are compared by their keys alone',
    why: 'another order under a used key is answered as if it were the first',
    file: submission,
    find: "order.hash === contentHash(content, key) ? { outcome: 'accepted', order, replayed: true } : { outcome: 'key-reused' };",
    replace: "contentHash(content, key) === '' ? { outcome: 'key-reused' } : { outcome: 'accepted', order, replayed: true };",
  },
  {
    name: 'the keys of calls are forgotten before their order',
    why: 'the key of an order lives as long as the order, but keys of calls on it are forgotten while it still runs',
    file: 'lib/roles/operator/idempotency.ts',
    find: 'slice(-keysKept)',
    replace: 'slice(-1)',
  },
  {
    name: 'an instruction is applied without a check of the revision',
    why: 'an instruction is carried out on another revision of the order than the operator has read',
    file: 'lib/roles/operator/instruct.ts',
    find: 'if (ifMatch !== undefined && ifMatch !== rev)',
    replace: 'if (ifMatch !== undefined && ifMatch > rev)',
  },
  {
    name: 'an order runs on the newest version of its workflow',
    why: 'an order continues with the newest version of its workflow instead of its own',
    file: 'lib/roles/scheduler/load.ts',
    find: 'const program = definitions.programOf(record);',
    replace: 'const program = definitions.newest(record.workflow.name);',
  },
  {
    name: 'a record of an unknown schema version counts as version 1',
    why: 'a record of a newer program is read as if this one had written it',
    file: 'lib/adapters/sqlite/rows.ts',
    find: 'if (head?.schemaVersion !== 1) throw',
    replace: 'if (head === null) throw',
  },
  {
    name: 'the client of a submission is taken from its body',
    why: 'the message decides for which client its sender submits',
    file: 'lib/roles/submission/queue-consumer.ts',
    find: 'if (!registered || !isSenderOf(registered, senderId)) throw',
    replace: 'if (!registered) throw',
  },
];
