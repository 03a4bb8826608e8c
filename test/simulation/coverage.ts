import { roles } from './at-work.ts';
import { type AnyFault, faultKinds, otherFaults, type Site } from './faults.ts';
import { coverageTable, reach, states } from './landing.ts';
import { callSites } from './ports.ts';
import { type Counts, type Summary, tableOf, total } from './simulate.ts';

/** The worlds that were played, and the commit of the code. */
export interface Played {
  readonly seed: number;
  readonly commit: string;
  /** The file that holds the page. */
  readonly file: string;
}

type Counted = { readonly [row: string]: Counts };

const kinds: readonly AnyFault[] = [...faultKinds, ...otherFaults];

const ofMessages: readonly AnyFault[] = [
  'message late',
  'message twice',
  'message lost',
  'queue purged',
  'old message again',
  'acknowledgement lost',
  'batch comes again',
  'poison',
  'queue is closed',
  'client queue gone',
];
const ofServices: readonly AnyFault[] = [
  'service refuses',
  'undo refused',
  'service fails',
  'service is down',
  'service slow',
  'service answer lost',
  'stricter schema',
];
const atCalls: readonly AnyFault[] = [...faultKinds, 'older process', 'edited definition'];
const ofTheRest = kinds.filter((kind) => ![...atCalls, ...ofMessages, ...ofServices].includes(kind));

/** Faults of a whole process, or of all supervisors, concern no single order. */
const aboutNone: readonly AnyFault[] = ['clock jumps', 'host stands still', 'supervisors gone', 'time runs out'];
/** Faults that need a stored order. */
const aboutStored: readonly AnyFault[] = [
  'index late',
  'index ghost',
  'older process',
  'edited definition',
  'record damaged',
  'order held',
];
/** Faults that always concern one order: each call of a service is for one order, and so are these writes. */
const aboutOne: readonly AnyFault[] = [...ofServices, 'transaction conflict', 'written twice', 'index never'];

const standsSo = (kind: AnyFault, state: string): boolean => {
  if (aboutNone.includes(kind)) return state === 'none';
  if (aboutStored.includes(kind)) return state !== 'none' && state !== 'not stored';
  return state !== 'none' || !aboutOne.includes(kind);
};

const ofTheIndex: readonly AnyFault[] = ['index late', 'index never', 'index ghost'];

const canBefall = ({ name, faults }: Site, kind: AnyFault): boolean => {
  // A read of the index is not a call of its own. Only faults of the index can hit it, whatever its list of faults says.
  if (name === 'store.due') return ofTheIndex.includes(kind);
  return (
    kind.startsWith('crash ') ||
    faults.some((fault) => fault === kind) ||
    (name === 'store.load' && (kind === 'older process' || kind === 'edited definition'))
  );
};

/** Returns a page for readers. It counts the hits of each fault by role, by call and by the state of the order. */
export function coveragePage(summary: Summary, { seed, commit, file }: Played): string {
  const { runs, landed } = summary;
  const last = seed + runs - 1;
  const parts = [
    `# What went wrong in ${runs} worlds, seeds ${seed} to ${last}, at \`${commit}\``,
    `${total(landed).toLocaleString('en')} faults really had an effect. This page is written by \`npm run simulate -- --seed ${seed} --runs ${runs} --coverage ${file}\`; [testing.md](testing.md#the-simulation) describes a world.`,
    'A number counts faults; of an outage, each call that failed counts. 0: the fault can happen there, and did not in these worlds. –: it cannot.',
    ...partOnRoles(summary),
    ...partOnStates(summary),
    ...partOnCalls(summary),
    ...partsOnOtherPlaces(summary),
    '## All faults, by place and by state of the order',
    'An empty cell: none happened.',
    coverageTable(summary),
  ];
  return parts.join('\n\n');
}

function partOnRoles(summary: Summary): readonly string[] {
  const table = tableOf(
    summary,
    ({ kind }) => kind,
    ({ role }) => role,
  );
  const why = kinds.filter((kind) => reach[kind].roles.length < roles.length).map((kind) => `- ${kind}: ${reach[kind].because}.`);
  return [
    '## Which role was at work',
    '`nobody`: the process was idle.',
    markdown(['fault', ...roles, 'nobody'], kinds, (kind, role) =>
      cell(
        table,
        [kind, role],
        reach[kind].roles.some((each) => each === role),
      ),
    ),
    'Why each fault leaves out the other roles:',
    why.join('\n'),
  ];
}

function partOnStates(summary: Summary): readonly string[] {
  const table = tableOf(
    summary,
    ({ kind }) => kind,
    ({ state }) => state,
  );
  return [
    '## In which state the order was',
    '`none`: the fault concerned no order. `not stored`: the order had no record yet, or the fault concerned another document.',
    markdown(['fault', ...states], kinds, (kind, state) => cell(table, [kind, state], standsSo(kind, state))),
  ];
}

function partOnCalls(summary: Summary): readonly string[] {
  const table = bySite(summary);
  const services = Object.keys(table).filter((name) => name.startsWith('service '));
  const sites: readonly Site[] = [...callSites, ...services.toSorted().map((name) => ({ name, faults: [] }))];
  const names = sites.map(({ name }) => name);
  return [
    '## At which call of a port or a service',
    'The simulation reads the index of the worklist, `store.due`, directly and not by a call that can fail. So no process crashes there, and the store does not throttle it.',
    markdown(['call', ...atCalls], names, (name, kind) =>
      cell(
        table,
        [name, kind],
        sites.some((site) => site.name === name && canBefall(site, kind as AnyFault)),
      ),
    ),
  ];
}

/** These tables list only places that a fault has hit: no list of all such places exists. */
function partsOnOtherPlaces(summary: Summary): readonly string[] {
  const table = bySite(summary);
  const part = (title: string, place: string, which: readonly AnyFault[]): readonly string[] => {
    const places = Object.keys(table).filter((each) => which.some((kind) => table[each]?.[kind] !== undefined));
    return [`## ${title}`, markdown([place, ...which], places.toSorted(), (each, kind) => String(table[each]?.[kind] ?? ''))];
  };
  return [
    '**The three tables below** count the faults at each place. There, an empty cell means that none happened in these worlds, whether it can happen or not. `poison`: content that no program can process. `queue is closed`: the channel of the queue was closed. `old message again`: a message of an earlier minute; `batch comes again`: a whole batch after a crash.',
    ...part('At which operation', 'operation, or whole service', ofServices),
    ...part('On which queue', 'queue', ofMessages),
    ...part('At which other place', 'place', ofTheRest),
  ];
}

const bySite = (summary: Summary): Counted =>
  tableOf(
    summary,
    ({ site }) => site,
    ({ kind }) => kind,
  );

/** Returns the count if the fault happened, even where the tables take it for impossible. */
const cell = (table: Counted, [row, column]: readonly [string, string], isPossible: boolean): string =>
  String(table[row]?.[column] ?? (isPossible ? 0 : '–'));

function markdown<Row extends string>(
  [head, ...columns]: readonly string[],
  rows: readonly Row[],
  of: (row: Row, column: string) => string,
): string {
  const lines = rows.map((row) => `| ${row} | ${columns.map((column) => of(row, column)).join(' | ')} |`);
  return [`| ${head} | ${columns.join(' | ')} |`, `|---|${columns.map(() => '---:').join('|')}|`, ...lines].join('\n');
}
