import type { Mutant } from './mutant.ts';

/** Mistakes about what operators change of one order: handlers of its own, and the undo of a single scope. */
export const amending: readonly Mutant[] = [
  {
    name: 'a handler that a person gave to an order is ignored',
    why: 'rules decide about the exception, or a person, although somebody has said who handles it',
    file: 'lib/roles/scheduler/given-handlers.ts',
    find: 'instance.state.amended?.handle?.find(',
    replace: 'instance.state.amended?.handle?.slice(9).find(',
  },
  {
    name: 'an amendment goes on with the order',
    why: 'an order in Error that is amended leaves Error, and nothing has decided about its fault',
    file: 'lib/core/instructions/amend.ts',
    find: '  staysStopped: () => true,\n',
    replace: '',
  },
  {
    name: 'the undo of one scope ends the order',
    why: 'the path of the instruction is read in its check alone',
    file: 'lib/core/instructions/compensate.ts',
    find: "path === rootPath ? { type: 'canceled', outcome: 'compensated' }",
    replace: "path !== '' ? { type: 'canceled', outcome: 'compensated' }",
  },
];
