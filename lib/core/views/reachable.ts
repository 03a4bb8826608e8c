import type { ForEachState } from '#core/activities/for-each';
import { behaviorOf } from '#core/activities/index';
import type { RetryState } from '#core/activities/retry';
import type { SequenceState } from '#core/activities/sequence';
import { isKindOf } from '#core/data/fault';
import type { ActivityState, State } from '#core/data/state';
import { type Activity, rootPath } from '#core/definition/definition';
import { definitionPath, type Program } from '#core/definition/program';
import type { Start } from '#core/engine/behavior';

/**
 * Paths of the definition whose activities are alive, or may still begin. What is not among them never runs any more.
 * Undo steps are not looked at: they take back what was done, and go nowhere from there.
 */
export function ahead(program: Program, state: State): ReadonlySet<string> {
  if (state.phase === 'closed') return new Set();
  if (state.phase === 'initialized') return new Set(everyIn(program.definition.root, rootPath));
  const paths = new Set<string>();
  for (const [at, activity] of Object.entries(state.activities)) {
    const path = definitionPath(at);
    const node = program.nodes.get(path);
    // What is undone, or settled for that, is back for nothing else.
    if (!node || activity.parent !== undefined) continue;
    paths.add(path);
    for (const next of startedBy(node, activity)) for (const each of everyIn(next, `${path}/${next.name}`)) paths.add(each);
  }
  return paths;
}

/** Whether anything waits for a signal of this name, or may still begin to. */
export const mayTakeSignal = (program: Program, state: State, name: string): boolean =>
  state.ending === undefined && signalsAhead(program, state).includes(name);

/** Whether something waits for it now, and takes it at once. */
export const takesSignalNow = (program: Program, { phase, activities }: State, name: string): boolean =>
  phase === 'running' &&
  Object.entries(activities).some(([path, { status, local }]) => {
    const node = program.nodes.get(definitionPath(path));
    return node?.activity === 'waitFor' && node.signal === name && status === 'Executing' && local !== undefined;
  });

/** Names of all signals for which something waits, or may still begin to. */
export const signalsAhead = (program: Program, state: State): readonly string[] => [
  ...new Set(
    [...ahead(program, state)].flatMap((path) => {
      const node = program.nodes.get(path);
      return node?.activity === 'waitFor' ? [node.signal] : [];
    }),
  ),
];

/** What an activity that is alive may start itself: children, what cleans up, handlers. */
function startedBy(
  node: Activity,
  { status, handling, awaitsPerson: waits, fault, local, cleanUp = [] }: ActivityState,
): readonly Activity[] {
  const children = behaviorOf(node.activity).children(node);
  const handlers = node.faultHandlers ?? [];
  // What waits for a person goes on as it was.
  if (status === 'Executing' || (status === 'Faulting' && waits))
    return [...childrenLeft(node, local, children), ...handlers.map((handler) => handler.do)];
  const cleaning = children.filter(({ name }) => cleanUp.some((start) => nameOf(start) === name));
  const handler = status === 'Faulting' && !handling && fault ? handlers.find((each) => isKindOf(fault.type, each.fault)) : undefined;
  return [...cleaning, ...(handler ? [handler.do] : [])];
}

const nameOf = (start: Start): string => (typeof start === 'string' ? start : start.name);

/** The children that an activity may still start; one that is alive already is looked at by itself. */
function childrenLeft(node: Activity, local: unknown, children: readonly Activity[]): readonly Activity[] {
  // It could not even begin.
  if (local === undefined) return children;
  switch (node.activity) {
    case 'sequence':
      return children.slice((local as SequenceState).at + 1);
    case 'parallel':
    case 'scope':
    case 'choice':
      return [];
    case 'retry': {
      const { phase, attempt } = local as RetryState;
      return phase === 'trying' && attempt > node.retries ? [] : children;
    }
    case 'forEach': {
      const { next, count } = local as ForEachState;
      return next < count ? children : [];
    }
    default:
      return children;
  }
}

/** An activity with all that is inside it, undo steps apart. */
function* everyIn(node: Activity, path: string): Generator<string> {
  yield path;
  const inside = [...behaviorOf(node.activity).children(node), ...(node.faultHandlers ?? []).map((handler) => handler.do)];
  for (const each of inside) yield* everyIn(each, `${path}/${each.name}`);
}
