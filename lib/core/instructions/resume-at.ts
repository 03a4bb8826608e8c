import { answersLater } from '#core/activities/index';
import { definitionPath } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { Skip } from '#core/data/state';
import type { StepMemo } from '#core/data/step-state';
import { isRemote, rootPath } from '#core/definition/definition';
import { nodeAt, type Program, parentOf, stepAt } from '#core/definition/program';
import { mask } from '#core/definition/secrets';
import { forgetLate } from '#core/engine/lateness';
import { resumeInside } from '#core/engine/resuming';
import { givingUpBlocked } from '#core/engine/resumption';
import type { TransitionBuilder } from '#core/engine/transition-builder';
import { undoneScope } from '#core/engine/undo-pages';
import { readersOf } from '#core/views/readers';
import { firstOf, type InstructionKind, type InstructionRefusal, type Judged, refusal, whenFinished, whenUndone } from './kind.ts';
import { isUnknown } from './outcome.ts';
import type { PastActivity } from './past.ts';
import { isOfUndo, proposalFor } from './place.ts';
import { isAtOrAfter, isBefore, scopesFrom } from './way.ts';

/** Has the order go on at an activity before or after the present one. */
export interface ResumeAt {
  readonly kind: 'resume-at';
  readonly path: string;
  /** Whether all that was done from that activity on is undone first. Otherwise it stays done, and is not requested again. */
  readonly undoBetween: boolean;
  /** The activities in the journal. The system adds them. */
  readonly past?: { readonly [path: string]: PastActivity };
}

export const resumeAt: InstructionKind<ResumeAt> = {
  readsHistory: true,
  refusals: (order, instruction) =>
    firstOf(
      () => whenFinished(order),
      () => whenUndone(order),
      () => (order.suspended ? [refusal('suspended', 'The order is suspended. Resume it first.')] : []),
      () => whileUndoing(order),
      () => ofPath(order, instruction.path),
      () => [...ofUndo(order, instruction), ...ofOutputs(order, instruction.path)],
    ),
  skips: (order, { path }) => jumped(order, path).filter((each) => canBeSkipped(order.program, each)),
  event: ({ past }, { path, undoBetween }) => ({
    type: 'instructed',
    instruction: { kind: 'resume-at', path, undoBetween, past: Object.fromEntries(past) },
  }),
  apply(builder, { path, undoBetween, past = {} }) {
    const from = openAround(builder.state.activities, path);
    if (from === undefined) return;
    forgetLate(builder);
    const remembered = memosFor(builder, path, undoBetween, past);
    givingUpBlocked(builder, () => {
      builder.set(remembered);
      resumeInside(builder, from, path, undoBetween ? scopesFrom(builder.program, from, path) : []);
    });
  },
};

const canBeSkipped = (program: Program, path: string): boolean => {
  const node = nodeAt(program, path);
  return isRemote(node) || node.activity === 'waitFor' || node.activity === 'askOperator';
};

/** Refuses while a scope is being undone, or a step is being undone, canceled or confirmed. */
const whileUndoing = ({ program, state }: Judged): readonly InstructionRefusal[] =>
  Object.entries(state.activities).some(
    ([path, activity]) => undoneScope(activity) !== undefined || stepAt(program, state, path)?.mode !== undefined,
  )
    ? [refusal('undo-running', 'Something is being undone, canceled or confirmed. Wait until it is over.')]
    : [];

/** Returns the innermost open activity around a path. */
function openAround(activities: Judged['state']['activities'], path: string): string | undefined {
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) if (activities[at]) return at;
  return undefined;
}

/**
 * Returns the memos, skips and outputs of an order that goes on at the target: those that it has, changed for the activities from the target
 * on, with the outputs from before the target that an activity may read and that only the journal still has.
 */
function memosFor(
  { program, state }: TransitionBuilder,
  path: string,
  undoBetween: boolean,
  past: { readonly [path: string]: PastActivity },
) {
  const memos: { [path: string]: StepMemo } = { ...state.memos };
  const skips: { [path: string]: Skip } = { ...state.skips };
  const outputs: { [path: string]: Json } = {};
  for (const [each, before] of Object.entries(past)) {
    const node = nodeAt(program, each);
    const isBeforeTarget = !isAtOrAfter(program, each, path);
    const { generation, attempt, outcome, output } = before;
    if (isBeforeTarget) {
      const isRead = program.readOutputs.get(node.name) === definitionPath(each);
      if (outcome === 'done' && isRead && output !== undefined && !each.includes('[')) outputs[each] = output;
      continue;
    }
    delete skips[each];
    if (!undoBetween && outcome === 'done' && isLeaf(program, each))
      skips[each] = { effect: 'kept', ...(output === undefined ? {} : { output }) };
    else if (isRemote(node) && attempt > 0)
      memos[each] = { generation, attempt, outcome: memoOutcome(program, state, each, outcome, undoBetween) };
  }
  for (const { path: each, generation } of undoBetween ? (state.undo ?? []) : [])
    if (isAtOrAfter(program, each, path) && !isRemote(nodeAt(program, each))) memos[each] = { generation, attempt: 1, outcome: 'undone' };
  const kept = Object.entries(state.outputs).filter(([each]) => !undoBetween || !isAtOrAfter(program, each, path));
  return { memos, skips, outputs: { ...outputs, ...Object.fromEntries(kept) } };
}

/**
 * Returns the outcome that the memo of a step gets. `undone`: the next request of the step is a new effect. `open`: the step is requested
 * again under the same key, because its outcome is unknown, and nothing confirms or undoes it first.
 */
function memoOutcome(
  program: Program,
  state: Judged['state'],
  path: string,
  outcome: PastActivity['outcome'],
  undoBetween: boolean,
): StepMemo['outcome'] {
  const { undo } = nodeAt(program, path);
  // The cancellation of an open step confirms and undoes it. A step that has closed is undone only with `undoBetween`.
  if (outcome === 'open') return isUnknown(program, state, path) && !undo ? 'open' : 'undone';
  return outcome === 'unknown' && !(undo && undoBetween) ? 'open' : 'undone';
}

const isLeaf = (program: Program, path: string): boolean =>
  ![...program.nodes.keys()].some((each) => each.startsWith(`${definitionPath(path)}/`) && !isOfUndo(program, each));

function ofPath(order: Judged, path: string): readonly InstructionRefusal[] {
  const { program, state } = order;
  const about = { path, pointer: '/path' };
  if (state.phase === 'initialized') return [refusal('nothing-to-do', 'The order has not begun yet.')];
  if (!program.nodes.has(definitionPath(path)) || isOfUndo(program, path) || path === rootPath)
    return [
      refusal(
        'no-such-step',
        `${path} is not an activity of this workflow at which the order can go on.${proposalFor(program, path)}`,
        about,
      ),
    ];
  const obstacle = obstacleAround(order, path);
  if (obstacle === 'loop') return [refusal('inside-loop', `${path} is in a turn of a loop. Name an activity outside of it.`, about)];
  if (obstacle === 'branch')
    return [
      refusal(
        'other-branch',
        `${path} is in a parallel, in a branch that was not taken, or in a handler that is not running. Name an activity outside of it.`,
        about,
      ),
    ];
  return [];
}

/** Returns what keeps the order from going on at an activity: a loop around it, or a branch that the order is not in. */
function obstacleAround({ program, state, past }: Judged, path: string): 'loop' | 'branch' | undefined {
  const from = openAround(state.activities, path);
  let found: 'branch' | undefined;
  for (let inside = path, around = parentOf(path); around !== undefined; inside = around, around = parentOf(around)) {
    const node = nodeAt(program, around);
    const name = inside.slice(inside.lastIndexOf('/') + 1);
    if (node.activity === 'while' || node.activity === 'forEach') return 'loop';
    const isHandler = node.faultHandlers?.some((handler) => handler.do.name === name) === true;
    const isTaken = state.activities[inside] !== undefined || past.has(inside);
    const isOnWay =
      node.activity === 'sequence' || node.activity === 'scope' || node.activity === 'retry' || (node.activity === 'choice' && isTaken);
    if (isHandler ? around === from || !state.activities[inside] : !isOnWay) found = 'branch';
  }
  const { status, awaitsPerson } = (from === undefined ? undefined : state.activities[from]) ?? {};
  return status === 'Executing' || awaitsPerson ? found : 'branch';
}

/** Refuses for each step that would be done twice, because nothing undoes it and it does not declare `.noUndo()`. */
function ofUndo({ program, past }: Judged, { path, undoBetween }: ResumeAt): readonly InstructionRefusal[] {
  if (!undoBetween) return [];
  return [...past].flatMap(([each, { outcome, skipped }]) => {
    const node = nodeAt(program, each);
    if (outcome !== 'done' || skipped || !isRemote(node) || !isAtOrAfter(program, each, path)) return [];
    if (node.undo || node.noUndo || isPartOfWhole(program, each)) return [];
    return [refusal('no-undo', `${each} has no undo, so it would be done twice.`, { path: each })];
  });
}

function isPartOfWhole(program: Program, path: string): boolean {
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) if (nodeAt(program, at).undo) return true;
  return false;
}

/** Returns the activities before the target that are not done, and that the order leaves out. */
const jumped = ({ program, past }: Judged, path: string): readonly string[] =>
  [...program.nodes.keys()].filter(
    (each) => isBefore(program, each, path) && !isOfUndo(program, each) && isLeaf(program, each) && past.get(each)?.outcome !== 'done',
  );

function ofOutputs(order: Judged, path: string): readonly InstructionRefusal[] {
  const { program, past, state } = order;
  const isMasked = (each: string): boolean =>
    state.outputs[each] === undefined && JSON.stringify(past.get(each)?.output ?? null).includes(mask);
  const gone = [...program.nodes.keys()].filter(
    (each) => isBefore(program, each, path) && past.get(each)?.outcome === 'done' && isMasked(each),
  );
  return [...jumped(order, path), ...gone].flatMap((each) => {
    const node = nodeAt(program, each);
    if (!answersLater(node)) return [];
    const readers = readersOf(program, node.name).filter((reader) => isAtOrAfter(program, reader, path));
    return readers.length === 0
      ? []
      : [refusal('output-missing', `The output of ${each} is missing, and ${readers.join(', ')} reads it.`, { path: each })];
  });
}
