import { behaviorOf, runsAgain } from '#core/activities/index';
import { type Activity, isRemote, rootPath } from '#core/definition/definition';
import { childrenOf, nodeAt, parentOf } from '#core/definition/program';
import { type Replay, undoneBy } from './replay.ts';
import { isWithin } from './undo-pages.ts';

/** The facts that the lost part of a journal may have contained. */
export interface Losses {
  /** Whether the journal is complete. If not, every step that could have been requested counts as requested. */
  readonly isWhole: boolean;
  /** Whether a person may have resubmitted a step in the lost part of the journal, under a new key. */
  readonly resubmitted: boolean;
  readonly stepMs: number;
  /** The time of the last event that the journal may contain: milliseconds since 1970. */
  readonly lastAt: number;
}

/** Adds an undo entry with an unknown outcome for every undoable step that the remaining journal does not mention. */
export function assumeRequested(replay: Replay, losses: Losses): void {
  if (losses.resubmitted)
    replay.unclear.push(
      `The order was in Error when its journal was lost: the keys of later requests are unknown. ${searchFor(replay, `${rootPath}/`)}`,
    );
  for (const [path, node] of replay.program.nodes) {
    if (!node.undo || undoneBy(replay.program, path) !== undefined) continue;
    for (const each of turnsOf(replay, path)) {
      if (mayHaveNewKey(replay, each))
        replay.unclear.push(
          `The retry around ${each} may have used further idempotency keys, so it is unknown how many effects it had. ${searchFor(replay, `${each}/`)}`,
        );
      else if (!isKnown(replay, each)) mayBeRequested(replay, each, losses);
    }
  }
}

/** Returns the remedy for effects under unknown keys: all keys of a path begin with the order and the path (`idempotencyKeyOf`). */
const searchFor = ({ subject }: Replay, start: string): string =>
  `Search the records of the service for keys that begin with "${subject.orderId}/${start}".`;

function isKnown(replay: Replay, path: string): boolean {
  if (replay.entries.some((entry) => entry.path === path || isWithin(path, entry.path))) return true;
  return isOver(replay, path);
}

/** Whether a running retry may have requested the step under a new key: after a refusal, after an undo, or with another input. */
function mayHaveNewKey(replay: Replay, path: string): boolean {
  const step = nodeAt(replay.program, path);
  const mayDiffer = isRemote(step) && /\b(?:steps|vars|each)\b/.test(JSON.stringify(step.input));
  return [...aroundOf(path)].some((each) => {
    const node = nodeAt(replay.program, each);
    return runsAgain(node) && (mayDiffer || mayUndoBetweenRuns(node)) && !isOver(replay, each);
  });
}

function isOver(replay: Replay, path: string): boolean {
  return replay.closed.has(path) || [...aroundOf(path)].some((each) => replay.closed.has(each));
}

/** Returns the paths of a step in every turn of the loops around it. */
function turnsOf(replay: Replay, path: string): readonly string[] {
  let paths = [''];
  let at = '';
  for (const name of path.split('/')) {
    at = at === '' ? name : `${at}/${name}`;
    const node = at === path ? undefined : replay.program.nodes.get(at);
    const here = paths.map((each) => (each === '' ? name : `${each}/${name}`));
    paths = node && behaviorOf(node.activity).repeats ? here.flatMap((each) => turnsAt(replay, each, node)) : here;
  }
  return paths;
}

function turnsAt(replay: Replay, path: string, loop: Activity): readonly string[] {
  const list = loop.activity === 'forEach' ? replay.filled(loop.list, path) : undefined;
  if (Array.isArray(list)) return list.map((_, index) => `${path}[${index}]`);
  replay.unclear.push(`It is unknown how many turns the loop ${path} has made. ${searchFor(replay, `${path}[`)}`);
  return [];
}

function mayBeRequested(replay: Replay, path: string, { stepMs, lastAt }: Losses): void {
  const node = nodeAt(replay.program, path);
  if (!isRemote(node)) return void replay.unclear.push(`It is unknown whether ${path}, which is undone as a whole, was completed.`);
  const before = replay.courses.get(path);
  const generation = before === undefined ? replay.first : before.generation + 1;
  const completeBy = lastAt + (node.completeWithinSeconds ?? stepMs / 1000) * 1000;
  replay.addUnknown(path, { generation, attempt: 1 }, lastAt, completeBy);
}

/** Whether a retry may undo a step before it runs the step again. For a custom activity this is unknown, so it counts as true. */
const mayUndoBetweenRuns = (node: Activity): boolean =>
  node.activity !== 'retry' || node.evenPermanent === true || node.only !== undefined || node.undoFirst === true || mayUndo(node.do);

/** Whether a part may be undone while it runs: by a handler, or because a parallel branch has failed. */
const mayUndo = (node: Activity): boolean =>
  !['sequence', 'scope', 'choice', 'while', 'retry'].includes(node.activity)
    ? behaviorOf(node.activity).children(node).length > 0 || node.activity === 'compensate'
    : childrenOf(node).some(mayUndo);

function* aroundOf(path: string): Generator<string> {
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) yield at;
}
