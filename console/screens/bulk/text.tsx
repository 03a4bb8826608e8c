import type { BulkRun, ListedBulkRun } from '../../api/types.ts';
import { kindNames, kinds } from '../../instructions/kinds.ts';
import type { IconName } from '../../parts/icons.ts';

/** The name of an instruction's kind; a kind that the console does not know keeps its own. */
export const kindName = (kind: string): string => {
  const known = kindNames.find((each) => each === kind);
  return known ? kinds[known].name : kind;
};

export interface Filter {
  readonly state?: string;
  readonly workflow?: string;
  readonly fingerprint?: string;
  readonly fault?: string;
  readonly ids?: number | readonly string[];
}

/** `Resubmit: fulfil-order, AddressInvalid`; with a group of exceptions, `Resubmit: AddressInvalid at ship`. */
export function nameOf(run: ListedBulkRun & Partial<Pick<BulkRun, 'filter'>>, group?: string): string {
  const { workflow, fault } = (run.filter ?? {}) as Filter;
  const about = [workflow, fault, group].filter(Boolean).join(', ');
  return `${kindName(run.kind)}${about === '' ? '' : `: ${about}`}`;
}

interface State {
  readonly word: string;
  readonly chip: { readonly tone: 'ok' | 'work' | 'off' | 'stop' | 'warn'; readonly icon: IconName; readonly tinted?: boolean };
}

const states: { readonly [state: string]: State } = {
  preparing: { word: 'being prepared', chip: { tone: 'work', icon: 'work', tinted: true } },
  ready: { word: 'ready: waits for your start', chip: { tone: 'warn', icon: 'pause', tinted: true } },
  running: { word: 'running', chip: { tone: 'work', icon: 'work', tinted: true } },
  paused: { word: 'paused', chip: { tone: 'warn', icon: 'pause', tinted: true } },
  stopped: { word: 'stopped', chip: { tone: 'stop', icon: 'square', tinted: true } },
  done: { word: 'done', chip: { tone: 'ok', icon: 'done' } },
};

export function stateOf({ state, paused }: ListedBulkRun): State {
  const known = states[state] ?? { word: state, chip: { tone: 'off', icon: 'idle' } };
  if (state !== 'paused' || !paused || paused.by === 'person') return known;
  const why = { canary: 'paused after the canary', breaker: `waits for ${paused.agent ?? 'a service'}`, backlog: 'waits for a queue' }[
    paused.by
  ];
  return { ...known, word: why };
}

export interface Part {
  readonly kind: 'ok' | 'run' | 'bad' | 'ref' | 'out' | 'left';
  readonly name: string;
  readonly count: number;
}

/** The orders of a run by what became of them. The sum is the size of the set. */
export function partsOf({ state, count, infeasible, applied, refused, movedOn, failed, verified }: ListedBulkRun): readonly Part[] {
  const known = verified.running + verified.passed + failuresOf(verified);
  // Some kinds, such as suspend, are not verified: they count when they are applied.
  const unverified = Math.max(0, applied - known);
  const outside = infeasible + refused + movedOn + failed;
  return [
    { kind: 'ok', name: unverified > 0 ? 'applied' : 'passed', count: verified.passed + unverified },
    { kind: 'run', name: 'not yet known', count: verified.running },
    { kind: 'bad', name: 'failed again', count: verified.failedAgain },
    { kind: 'ref', name: 'failed for another reason', count: verified.failedOtherwise },
    { kind: 'out', name: 'left out', count: outside },
    { kind: 'left', name: leftWord(state), count: Math.max(0, count - applied - outside) },
  ];
}

/** A stopped run never goes on: its orders without an outcome are not sent any more. */
export const leftWord = (state: ListedBulkRun['state']): string => (state === 'stopped' ? 'not sent' : 'to do');

/** The number of orders that the instruction did not help. The failure limit that stops the run counts the same orders. */
export const failuresOf = ({ failedAgain, failedOtherwise }: ListedBulkRun['verified']): number => failedAgain + failedOtherwise;

/** `1 failed again, 2 failed for another reason`: the two parts of `failuresOf`. */
export const failedText = ({ failedAgain, failedOtherwise }: ListedBulkRun['verified']): string =>
  `${failedAgain.toLocaleString('en')} failed again, ${failedOtherwise.toLocaleString('en')} failed for another reason`;

export const dealtWith = (run: ListedBulkRun): number =>
  partsOf(run).reduce((sum, { kind, count }) => sum + (kind === 'left' ? 0 : count), 0);

/** A bar of all orders of a run. */
export function Progress({ run, isThin = false }: { run: ListedBulkRun; isThin?: boolean }) {
  const parts = partsOf(run);
  const all = Math.max(1, run.count);
  let x = 0;
  return (
    <svg
      class={`progress ${isThin ? 'thin' : ''}`}
      viewBox="0 0 1000 10"
      preserveAspectRatio="none"
      role="img"
      aria-label={parts.map(({ name, count }) => `${name} ${count}`).join(', ')}
    >
      <rect class="left" x="0" y="0" width="1000" height="10" />
      {parts.map(({ kind, count }) => {
        const width = (1000 * count) / all;
        x += width;
        return kind === 'left' ? null : <rect key={kind} class={kind} x={x - width} y="0" width={width} height="10" />;
      })}
    </svg>
  );
}

/** Kinds of instructions that fit many orders together. A corrected input belongs to one order, so that kind is not among them. */
export const forMany = ['resubmit', 'acknowledge', 'suspend', 'resume', 'retry-undo', 'compensate', 'cancel', 'terminate'] as const;

/** Whether a person is asked once more before the run starts or goes on, because what it does cannot be taken back. */
export const isHarm = ({ kind }: Pick<ListedBulkRun, 'kind'>): boolean => {
  const known = kindNames.find((each) => each === kind);
  return known === undefined || kinds[known].harm === true;
};

/** Returns why it is too early to go on after the first orders: nobody knows yet whether the instruction helped them. */
export function unknownText({ state, paused, verified: { running } }: BulkRun): string | undefined {
  if (state !== 'paused' || paused?.by !== 'canary' || running === 0) return undefined;
  return running === 1 ? "the first order's result is not known yet" : `the results of ${running} first orders are not known yet`;
}

/** `Resubmit 10, then ask me`. */
export const startText = ({ kind, canary, feasible }: BulkRun): string =>
  canary !== null && canary < feasible
    ? `${kindName(kind)} ${canary.toLocaleString('en')}, then ask me`
    : `${kindName(kind)} all ${feasible.toLocaleString('en')}`;
