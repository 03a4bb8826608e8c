import { behaviorOf, localOf } from '#core/activities/index';
import { isKindOf } from '#core/data/fault';
import type { Start } from '#core/data/ids';
import { definitionPath } from '#core/data/ids';
import type { ActivityState, State } from '#core/data/state';
import { type Activity, rootPath } from '#core/definition/definition';
import type { Program } from '#core/definition/program';

/**
 * Returns the paths of the definition whose activities are open or may still start. All other activities never run
 * again. Undo steps are ignored, because no activity follows them.
 */
export function ahead(program: Program, state: State): ReadonlySet<string> {
  if (state.phase === 'closed') return new Set();
  if (state.phase === 'initialized') return new Set(everyIn(program.definition.root, rootPath));
  const paths = new Set<string>();
  for (const [at, activity] of Object.entries(state.activities)) {
    const path = definitionPath(at);
    const node = program.nodes.get(path);
    // An activity with an explicit parent is only being undone or confirmed.
    if (!node || activity.parent !== undefined) continue;
    paths.add(path);
    for (const next of startedBy(node, activity)) for (const each of everyIn(next, `${path}/${next.name}`)) paths.add(each);
  }
  return paths;
}

/** Whether an activity waits for a signal of this name, or may still start to. */
export const mayTakeSignal = (program: Program, state: State, name: string): boolean =>
  state.ending === undefined && signalsAhead(program, state).includes(name);

/** Whether an activity waits for the signal now and takes it at once. */
export const takesSignalNow = (program: Program, { phase, activities }: State, name: string): boolean =>
  phase === 'running' &&
  Object.entries(activities).some(([path, { status, local }]) => {
    const node = program.nodes.get(definitionPath(path));
    return node?.activity === 'waitFor' && node.signal === name && status === 'Executing' && local !== undefined;
  });

/** Returns the names of all signals for which an activity waits, or may still start to. */
export const signalsAhead = (program: Program, state: State): readonly string[] => [
  ...new Set(
    [...ahead(program, state)].flatMap((path) => {
      const node = program.nodes.get(path);
      return node?.activity === 'waitFor' ? [node.signal] : [];
    }),
  ),
];

/** Returns the activities that an open activity may start: children, clean-up steps, handlers. */
function startedBy(node: Activity, activity: ActivityState): readonly Activity[] {
  const { status, handling, awaitsPerson: waits, fault, cleanUp = [] } = activity;
  const children = behaviorOf(node.activity).children(node);
  const handlers = node.faultHandlers ?? [];
  // An activity that waits for a person continues as before.
  if (status === 'Executing' || (status === 'Faulting' && waits))
    return [...childrenLeft(node, activity, children), ...handlers.map((handler) => handler.do)];
  const cleaning = children.filter(({ name }) => cleanUp.some((start) => nameOf(start) === name));
  const handler = status === 'Faulting' && !handling && fault ? handlers.find((each) => isKindOf(fault.type, each.fault)) : undefined;
  return [...cleaning, ...(handler ? [handler.do] : [])];
}

const nameOf = (start: Start): string => (typeof start === 'string' ? start : start.name);

/** Returns the children that an activity may still start. Children that are open are handled separately. */
function childrenLeft(node: Activity, activity: ActivityState, children: readonly Activity[]): readonly Activity[] {
  // The activity failed before it could start.
  if (activity.local === undefined) return children;
  switch (node.activity) {
    case 'sequence':
      return children.slice((localOf(node, activity)?.at ?? -1) + 1);
    case 'parallel':
    case 'scope':
    case 'choice':
      return [];
    case 'retry': {
      const retry = localOf(node, activity);
      return retry?.phase === 'trying' && retry.attempt > node.retries ? [] : children;
    }
    case 'forEach': {
      const loop = localOf(node, activity);
      return loop && loop.next >= loop.count ? [] : children;
    }
    default:
      return children;
  }
}

/** Yields an activity with everything inside it, except undo steps. */
function* everyIn(node: Activity, path: string): Generator<string> {
  yield path;
  const inside = [...behaviorOf(node.activity).children(node), ...(node.faultHandlers ?? []).map((handler) => handler.do)];
  for (const each of inside) yield* everyIn(each, `${path}/${each.name}`);
}
