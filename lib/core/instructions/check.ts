import type { RequestCommand } from '#core/data/command';
import { definitionPath, undoPathOf } from '#core/data/ids';
import type { CoreFact } from '#core/data/journal';
import type { State } from '#core/data/state';
import { isRemote } from '#core/definition/definition';
import { nodeAt, type Program, stepAt } from '#core/definition/program';
import { undoneBy } from '#core/engine/replay';
import type { Forecast, Resumed } from './forecast.ts';
import type { InstructionRefusal, InstructionWarning } from './kind.ts';

/** An activity, and the operation that is requested for it. The path of an undo is that of the step which it undoes. */
export interface Operation {
  readonly path: string;
  readonly operation: string;
}

export const changes = ['undone', 'runs', 'skipped', 'canceled', 'marked'] as const;
export type Change = (typeof changes)[number];

/** The effects of an instruction, and every reason against it. */
export interface Check {
  readonly feasible: boolean;
  readonly refusals: readonly InstructionRefusal[];
  readonly warnings: readonly InstructionWarning[];
  readonly effects: {
    /** The requests that the write of the instruction sends. */
    readonly requests: readonly Operation[];
    /** The undos until the order is at rest, first to last. */
    readonly undoes: readonly Operation[];
    readonly skips: readonly string[];
    /** The steps that count as undone from now on, because a person has undone them by hand. */
    readonly marks: readonly string[];
  };
  /** The undos that go on when somebody resumes the order, first to last. Empty for an order that is not suspended after the write. */
  readonly whenResumed: readonly Operation[];
  /** The requests that follow if every step answers well. They are not certain. */
  readonly then: readonly Operation[];
  /** Every step and every blocked activity, with what happens to it, first to last. */
  readonly graph: readonly { readonly path: string; readonly changes: readonly Change[] }[];
  /** Upper bounds. `attempts`: how often one step is requested under one key before it fails. */
  readonly estimate: { readonly requests: number; readonly attempts: number; readonly dollars: number };
}

/** The effects of a write, and those that follow it. */
export interface Effects {
  /** The state after the write. */
  readonly after: State;
  readonly facts: readonly CoreFact[];
  readonly requests: readonly RequestCommand[];
  readonly follows: Forecast;
  /** The consequences of a later resumption; absent if the write does not leave the order suspended. */
  readonly resumed?: Resumed | undefined;
  readonly skips: readonly string[];
}

/** The most requests that a check lists in `then`. */
const thenMax = 200;

/** Returns the check of an infeasible instruction. `order` is absent if the order cannot be read. */
export const refusedCheck = (
  order: { readonly program: Program; readonly state: State } | undefined,
  refusals: readonly InstructionRefusal[],
): Check => ({
  feasible: false,
  refusals,
  warnings: [],
  effects: { requests: [], undoes: [], skips: [], marks: [] },
  whenResumed: [],
  // biome-ignore lint/suspicious/noThenProperty: the contract names the field, and it is a list.
  then: [],
  graph: order ? graphOf(order.program, order.state, new Map()) : [],
  estimate: { requests: 0, attempts: 0, dollars: 0 },
});

/** Returns the check of a feasible instruction. `before`: the state in which it is given. */
export function checkOf(
  program: Program,
  before: State,
  effects: Effects,
  warnings: readonly InstructionWarning[],
): Omit<Check, 'estimate'> {
  const { after, facts, requests, follows, resumed, skips } = effects;
  const undoes = unique([
    ...undosAtWork(program, after),
    ...requests.flatMap((request) => undoIn(program, request)),
    ...foreseenUndos(program, follows),
  ]);
  const whenResumed = resumed ? unique([...undosAtWork(program, resumed.state), ...foreseenUndos(program, resumed.follows)]) : [];
  const marks = facts.flatMap((fact) => (fact.type === 'MarkedCompensated' ? [fact.path] : []));
  const then = unique(follows.requests.flatMap(({ request }) => (isWork(program, request) ? [operationOf(request)] : [])));
  return {
    feasible: true,
    refusals: [],
    warnings: [
      ...warnings,
      ...uncertaintyOf(program, [...follows.uncertain, ...notDoneYet(undoes, after)]),
      ...interruptionsOf(undoes, follows.state),
      ...obstaclesOf(program, follows),
    ],
    effects: { requests: requests.map(operationOf), undoes, skips, marks },
    whenResumed,
    // biome-ignore lint/suspicious/noThenProperty: the contract names the field, and it is a list.
    then: then.slice(0, thenMax),
    graph: graphOf(program, before, changesIn(program, facts, effects)),
  };
}

/** Returns the undos that run already, and go on. */
function undosAtWork(program: Program, { phase, activities }: State): readonly Operation[] {
  if (phase !== 'running') return [];
  return Object.keys(activities).flatMap((path) => {
    const undone = undoneBy(program, path);
    const node = nodeAt(program, path);
    const isRequested = stepAt(program, { activities }, path)?.phase !== 'impossible';
    return undone !== undefined && isRemote(node) && isRequested ? [{ path: undone, operation: node.operation }] : [];
  });
}

const operationOf = ({ path, operation }: RequestCommand): Operation => ({ path, operation });

/** Whether a request is for new work: it is neither an undo nor a confirmation. */
const isWork = (program: Program, { path, confirming }: RequestCommand): boolean => !confirming && undoneBy(program, path) === undefined;

function undoIn(program: Program, { path, operation }: RequestCommand): readonly Operation[] {
  const undone = undoneBy(program, path);
  return undone === undefined ? [] : [{ path: undone, operation }];
}

/** Returns the undos that follow in any case: they do not depend on the answers of other steps. */
const foreseenUndos = (program: Program, { requests }: Forecast): readonly Operation[] =>
  requests.flatMap(({ request, settled }) => (settled ? undoIn(program, request) : []));

const unique = (operations: readonly Operation[]): readonly Operation[] => [
  ...new Map(operations.map((each) => [`${each.path} ${each.operation}`, each])).values(),
];

/** Returns those steps of `undoes` that a clean-up has not done yet. If the service refuses such a step, there is nothing to undo. */
const notDoneYet = (undoes: readonly Operation[], { undo = [], activities }: State): readonly string[] =>
  undoes.map(({ path }) => path).filter((path) => !activities[undoPathOf(path)] && !undo.some((entry) => entry.path === path));

/** Returns a warning for each step that is undone only if it turns out to be done. */
const uncertaintyOf = (program: Program, uncertain: readonly string[]): readonly InstructionWarning[] =>
  [...new Set(uncertain)].map((path) => ({
    code: 'outcome-unknown',
    path,
    detail: nodeAt(program, path).undo
      ? `It is not known yet whether ${path} was done. It is undone if it was.`
      : `It is not known yet whether ${path} was done, and it has no undo.`,
  }));

/**
 * Returns a warning for each undo that still runs when the order stops, as at a question in a clean-up. The undo goes on when the order
 * does.
 */
const interruptionsOf = (undoes: readonly Operation[], { phase, activities }: State): readonly InstructionWarning[] =>
  phase === 'running' || phase === 'closed'
    ? []
    : undoes
        .filter(({ path }) => activities[undoPathOf(path)])
        .map(({ path }) => ({
          code: 'undo-running',
          path,
          detail: `The order may stop before ${path} is undone. The undo continues when the order continues.`,
        }));

/** Returns a warning for each undo that is not requested if an earlier step turns out to be done and cannot be undone. */
const obstaclesOf = (program: Program, { requests }: Forecast): readonly InstructionWarning[] => {
  const kept = requests.flatMap(({ request, settled, unless = [] }) =>
    settled && unless.length > 0 ? undoIn(program, request).map(({ path }) => [path, unless] as const) : [],
  );
  return [...new Map(kept)].map(([path, unless]) => ({
    code: 'undo-running',
    path,
    detail: `It is not known yet whether ${unless.join(', ')} was done. If it was, a person must undo it first, and then ${path} is undone.`,
  }));
};

/** Returns the changes of each path, in the order in which they happen. */
function changesIn(
  program: Program,
  facts: readonly CoreFact[],
  { follows, skips, requests }: Effects,
): ReadonlyMap<string, readonly Change[]> {
  const found = new Map<string, Change[]>();
  const note = (path: string, change: Change): void => {
    const changed = found.get(path) ?? [];
    found.set(path, changed);
    if (!changed.includes(change)) changed.push(change);
  };
  for (const path of skips) note(path, 'skipped');
  const confirming = new Set([...requests, ...follows.requests.map(({ request }) => request)].flatMap(confirmationIn));
  for (const fact of [...facts, ...follows.facts.flatMap(({ fact: each }) => (each.type === 'MarkedCompensated' ? [] : [each]))]) {
    const undone = fact.type === 'StepRequested' ? undoneBy(program, fact.path) : undefined;
    if (undone !== undefined) note(undone, 'undone');
    else if (fact.type === 'StepRequested' && !confirming.has(`${fact.path} ${fact.attemptId}`)) note(fact.path, 'runs');
    else if (fact.type === 'MarkedCompensated') note(fact.path, 'marked');
    else if (fact.type === 'OrderUnblocked' || fact.type === 'ActivityStarted') note(fact.path, 'runs');
    else if (fact.type === 'CancelRequested' || (fact.type === 'ActivityClosed' && fact.result === 'Canceled')) note(fact.path, 'canceled');
  }
  for (const path of skips)
    found.set(
      path,
      (found.get(path) ?? []).filter((change) => change !== 'runs'),
    );
  return found;
}

const confirmationIn = ({ confirming, path, requestId }: RequestCommand): readonly string[] =>
  confirming ? [`${path} ${requestId.slice(requestId.lastIndexOf('/') + 1)}`] : [];

/** Returns every step, and every blocked activity. Steps in loops are listed once for each turn that is known. */
function graphOf(
  program: Program,
  { activities, blocked, undo = [] }: State,
  changed: ReadonlyMap<string, readonly Change[]>,
): Check['graph'] {
  const known = new Set([...Object.keys(activities), ...undo.map(({ path }) => path), ...changed.keys()]);
  const waiting = new Set([
    ...(blocked ? [blocked.path] : []),
    ...Object.keys(activities).filter((path) => activities[path]?.awaitsPerson),
  ]);
  const turns = Map.groupBy(known, definitionPath);
  return [...program.nodes].flatMap(([nodePath, node]) => {
    if (undoneBy(program, nodePath) !== undefined) return [];
    const places = turns.get(nodePath) ?? [nodePath];
    const shown = isRemote(node) ? places : places.filter((path) => waiting.has(path));
    return shown.map((path) => ({ path, changes: changed.get(path) ?? [] }));
  });
}
