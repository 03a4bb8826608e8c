import { type Role, roles } from './at-work.ts';
import { type AnyFault, faultKinds, otherFaults } from './faults.ts';
import { hits, type Summary, tableOf } from './simulate.ts';

/** The roles that a kind of fault can hit, and why it hits no other role. */
interface Reach {
  readonly roles: readonly Role[];
  readonly because: string;
}

const without = (some: readonly Role[], ...others: readonly Role[]): readonly Role[] => some.filter((role) => !others.includes(role));
const callers = without(roles, 'notifier', 'desk');
const functions = without(callers, 'client', 'operator');
const readers = without(functions, 'supervisor', 'sweeper', 'bulk');
const inside: readonly Role[] = ['scheduler', 'agent', 'children'];

const everybody: Reach = { roles: callers, because: 'few worlds have a notifier and people who claim tasks' };
const onlyReaders: Reach = { roles: readers, because: 'no other role takes messages in batches' };
const onlyInside: Reach = {
  roles: inside,
  because: 'only these roles get messages that the system sends to itself; a client sends its own messages again',
};
const ownCode: Reach = { roles: ['agent', 'consumer'], because: 'only the code of the app calls services' };
const onlyAgents: Reach = { roles: ['agent'], because: 'only agents call services' };
const onlySupervisor: Reach = { roles: ['supervisor'], because: 'only the supervisor reads the index of the worklist' };

const announcers: Reach = {
  roles: ['scheduler', 'operator', 'bulk', 'dead-letter'],
  because:
    'agents, supervisors and submissions announce nothing, and calls of clients and of callers very seldom lead to an announcement at once',
};

/** A fault can hit only the roles in its list. */
export const reach: { readonly [kind in AnyFault]: Reach } = {
  'crash before': everybody,
  'crash applied': everybody,
  'crash after': everybody,
  throttled: everybody,
  'transaction conflict': { roles: ['client', 'submissions', 'children'], because: 'no other role creates orders' },
  'answer lost': everybody,
  'written twice': {
    roles: without(callers, 'agent', 'consumer', 'bulk', 'dead-letter'),
    because: 'agents, consumers and the dead-letter role write no states, and bulk runs write very few',
  },
  'not taken': announcers,
  'index late': onlySupervisor,
  'index never': onlySupervisor,
  'index ghost': onlySupervisor,
  'message twice': { roles: [...readers, 'client'], because: 'no other role takes messages' },
  'message late': { roles: [...readers, 'client'], because: 'no other role takes messages' },
  'message lost': onlyInside,
  'queue purged': onlyInside,
  'old message again': onlyInside,
  'acknowledgement lost': onlyReaders,
  'batch comes again': onlyReaders,
  'time runs out': { roles: without(functions, 'bulk'), because: 'no other role has a time limit; few worlds have bulk runs' },
  'clock jumps': everybody,
  'host stands still': everybody,
  'supervisors gone': { roles: ['supervisor', 'sweeper'], because: 'the fault is that these two are away' },
  'record damaged': { roles: ['scheduler'], because: 'it counts for the role that works on the order' },
  'edited definition': {
    roles: ['scheduler'],
    because: 'no other role continues an order, and a role that takes new orders refuses to start',
  },
  'older process': {
    roles: ['scheduler', 'client', 'operator'],
    because: 'no other role reads the state of an order of the newer version',
  },
  'order held': { roles: ['scheduler'], because: 'it counts for the role that works on the order' },
  poison: { roles: without(readers, 'dead-letter'), because: 'the dead-letter role takes every message, so none is poison for it' },
  'service refuses': onlyAgents,
  'undo refused': onlyAgents,
  'service fails': ownCode,
  'service is down': ownCode,
  'store is down': {
    roles: without(callers, 'dead-letter'),
    because: 'the dead-letter role calls the store rarely, so few worlds may show none',
  },
  'throttled for long': everybody,
  'publisher is down': announcers,
  'publisher gone for a day': { roles: ['scheduler', 'operator'], because: 'the other roles announce too seldom for one long outage' },
  'queue is closed': {
    roles: ['scheduler', 'agent', 'children', 'client', 'submissions', 'dead-letter'],
    because: 'no other role has such a queue; the response queue counts for its client',
  },
  'client queue gone': { roles: ['client'], because: 'the queue is that of a client' },
  'service slow': onlyAgents,
  'service answer lost': onlyAgents,
  'stricter schema': onlyAgents,
};

/** `crash before x agent` */
type CellName = `${AnyFault} x ${Role}`;

/**
 * Cells that faults hit in fewer than 12 of 1,500 worlds, no matter how often in each: a sample of worlds may leave them empty.
 * Every other cell is almost certainly hit: with 12 worlds on average, it stays empty once in 150,000 samples.
 */
export const rare: ReadonlySet<CellName> = new Set<CellName>([
  'client queue gone x client',
  'not taken x bulk',
  'publisher is down x bulk',
  'throttled for long x bulk',
  'publisher gone for a day x scheduler',
  'publisher gone for a day x operator',
  'queue is closed x submissions',
  'time runs out x sweeper',
  'written twice x sweeper',
]);

/** Returns the cells with too few hits: `crash before x agent: 12`. */
export const emptyCells = (summary: Summary, least: (name: CellName) => number): readonly string[] =>
  [...faultKinds, ...otherFaults].flatMap((kind) =>
    reach[kind].roles.flatMap((role) => {
      const name: CellName = `${kind} x ${role}`;
      const count = hits(summary, (cell) => cell.kind === kind && cell.role === role);
      return count < least(name) ? [`${name}: ${count}`] : [];
    }),
  );

/** Returns a table for readers, with a line for each kind and a column for each role. A dash marks an impossible hit. */
export function landingTable(summary: Summary): string {
  const line = (head: string, cells: readonly string[]): string => [head.padEnd(26), ...cells.map((cell) => cell.padStart(12))].join('');
  const count = (kind: AnyFault, role: Role): string => {
    const landed = hits(summary, (cell) => cell.kind === kind && cell.role === role);
    return landed === 0 && !reach[kind].roles.includes(role) ? '–' : String(landed);
  };
  const rows = [...faultKinds, ...otherFaults].map((kind) =>
    line(
      kind,
      roles.map((role) => count(kind, role)),
    ),
  );
  return [line('', roles), ...rows].join('\n');
}

/** States of the order at the time of a fault. `none`: the fault concerned no order. `not stored`: no record existed yet. */
export const states = ['none', 'not stored', 'Pending', 'Processing', 'Error', 'Processed'];

/** Returns a Markdown table, with a line for each fault and place, and a column for each state of the order. */
export function coverageTable(summary: Summary): string {
  const table = tableOf(
    summary,
    ({ kind, site }) => `| ${kind} | ${site} |`,
    ({ state }) => state,
  );
  const rows = Object.keys(table)
    .toSorted()
    .map((row) => `${row} ${states.map((state) => table[row]?.[state] ?? '').join(' | ')} |`);
  const head = [`| fault | where | ${states.join(' | ')} |`, `|---|---|${states.map(() => '---:').join('|')}|`];
  return [...head, ...rows, ''].join('\n');
}
