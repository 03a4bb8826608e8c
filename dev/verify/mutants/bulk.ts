import type { Mutant } from './mutant.ts';

const run = 'lib/roles/bulk/run-at-work.ts';
const treat = 'lib/roles/bulk/treat-order.ts';

/** Mistakes about bulk runs: their set, the outcome of each order, their stop and their figures. */
export const bulk: readonly Mutant[] = [
  {
    name: 'a process that takes a bulk run over freezes its set again',
    why: 'orders join a set that an operator has seen and approved',
    file: run,
    find: 'if (!set) await this.freeze();',
    replace: 'if (!set || set.epoch < this.held.run.epoch) await this.freeze();',
  },
  {
    name: 'the outcome of an order is written after its instruction',
    why: 'a process that dies between the two leaves an order that gets the instruction again',
    file: treat,
    find: `      beside: () => stillKnown([outcomeDocument(run, applied)]),
    });
    if (instructed.outcome === 'done') return applied;`,
    replace: `      beside: () => stillKnown([]),
    });
    if (instructed.outcome === 'done') return documents.putOutcome(run, applied);`,
  },
  {
    name: 'a process that stood still goes on with a stopped bulk run',
    why: 'what a process knew of the run before it stood still counts as if it knew it now',
    file: treat,
    find: 'if (clock.now() - lookedAt > lookCountsMs)',
    replace: 'if (clock.now() + lookCountsMs < lookedAt)',
  },
  {
    name: 'a bulk run counts the outcomes before its cursor again',
    why: 'the figures grow with each count of the same chunk',
    file: run,
    find: 'const counts = countsOf(orders.slice(from, until), outcomes);',
    replace: 'const counts = countsOf(orders.slice(0, until), outcomes);',
  },
  {
    name: 'what a check has refused is counted before it is kept',
    why: 'a process that dies between the two leaves more infeasible orders in the figures than among the items',
    file: run,
    find: `      documents,
    );
    for (const outcome of infeasible) outcomes`,
    replace: `    );
    for (const outcome of infeasible) await this.ports.documents.putOutcome(this.held.run, outcome);
    if (documents.length < 0) return;
    for (const outcome of infeasible) outcomes`,
  },
];
