import { localOf } from '#core/activities/index';
import { definitionPath } from '#core/data/ids';
import type { ActivityState, State } from '#core/data/state';
import { type Activity, rootPath } from '#core/definition/definition';
import { type Program, parentOf } from '#core/definition/program';
import { undoneBy } from '#core/engine/replay';

/**
 * The place of an activity, relative to the open ones. `ahead`: it may still start. `behind`: it is closed, or will not start any more.
 * `handler`: it is in a handler that is not open. `turn`: its path lacks the turn of a loop.
 */
export type Place = 'open' | 'ahead' | 'behind' | 'other-branch' | 'handler' | 'turn' | 'unknown';

/** Returns the place of an activity. The innermost open activity around it decides. */
export function placeOf(program: Program, state: State, path: string): Place {
  if (!program.nodes.has(definitionPath(path)) || isOfUndo(program, path)) return 'unknown';
  if (state.activities[path]) return 'open';
  if (!namesItsTurns(program, path)) return 'turn';
  for (let inside = path; inside !== rootPath; ) {
    const around = parentOf(inside) ?? rootPath;
    const activity = state.activities[around];
    if (activity) return placeWithin(program, around, activity, inside);
    inside = around;
  }
  return state.phase === 'initialized' ? 'ahead' : 'behind';
}

/** The most activities that a message proposes. */
const proposedMax = 3;

/** Returns a sentence that proposes the activities whose name a wrong path ends with; empty if there are none. It begins with a space. */
export function proposalFor(program: Program, path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const paths = [...program.nodes].flatMap(([at, node]) =>
    node.name === name && at !== definitionPath(path) && !isOfUndo(program, at) ? [at] : [],
  );
  return paths.length === 0 ? '' : ` Did you mean ${paths.slice(0, proposedMax).join(' or ')}?`;
}

/** Whether an activity is an undo, or a part of one. */
export function isOfUndo(program: Program, path: string): boolean {
  for (let at: string | undefined = path; at !== undefined; at = parentOf(at)) if (undoneBy(program, at) !== undefined) return true;
  return false;
}

/** Whether the path has a number for each loop around the activity. */
const namesItsTurns = (program: Program, path: string): boolean => {
  const loops = [...program.nodes].filter(([at, { activity }]) => (activity === 'while' || activity === 'forEach') && isInBody(at, path));
  return loops.length === (path.match(/\[\d+\]/g) ?? []).length;
};

const isInBody = (loop: string, path: string): boolean => definitionPath(path).startsWith(`${loop}/`);

function placeWithin(program: Program, around: string, activity: ActivityState, inside: string): Place {
  const node = program.nodes.get(definitionPath(around)) as Activity;
  const name = inside.slice(inside.lastIndexOf('/') + 1);
  if (node.faultHandlers?.some((handler) => handler.do.name === name)) return activity.handling ? 'behind' : 'handler';
  // The activity around it failed before it could start.
  if (activity.local === undefined && activity.status !== 'Compensating') return 'ahead';
  switch (node.activity) {
    case 'sequence': {
      const { at = 0 } = localOf(node, activity) ?? {};
      return node.children.findIndex((child) => child.name === name) > at ? 'ahead' : 'behind';
    }
    case 'choice':
      return 'other-branch';
    case 'retry':
      return localOf(node, activity)?.phase === 'backingOff' ? 'ahead' : 'behind';
    case 'while':
      return turnOf(inside) > (localOf(node, activity)?.turn ?? 0) ? 'ahead' : 'behind';
    case 'forEach': {
      const { next = 0, count = 0 } = localOf(node, activity) ?? {};
      const turn = turnOf(inside);
      return turn >= count ? 'unknown' : turn >= next ? 'ahead' : 'behind';
    }
    default:
      return 'behind';
  }
}

const turnOf = (path: string): number => Number(/\[(\d+)\]\/[^/]+$/.exec(path)?.[1]);
