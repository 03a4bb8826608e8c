import { answersLater, behaviorOf } from '#core/activities/index';
import { definitionPath } from '#core/data/ids';
import { isCustom, rootPath } from '#core/definition/definition';
import { nodeAt, type Program, stepAt } from '#core/definition/program';
import { undoneBy } from '#core/engine/replay';
import { undoBlockedScope } from '#core/engine/scope-undo';
import { isAt, isWithin, undoneScope } from '#core/engine/undo-pages';
import { readersOf } from '#core/views/readers';
import {
  firstOf,
  type InstructionKind,
  type InstructionRefusal,
  type Judged,
  refusal,
  whenFinished,
  whenSuspendedInError,
  whenUndone,
} from './kind.ts';
import { isOfUndo, placeOf, proposalFor } from './place.ts';

/**
 * Cancels and undoes an order in Error, which then ends as compensated. With `path`, it undoes one open scope around the blocked
 * activity, and the order goes on after that scope, as if a handler of the scope had compensated it.
 */
export interface Compensate {
  readonly kind: 'compensate';
  /** The scope. Default: the whole order. */
  readonly path?: string;
}

export const compensate: InstructionKind<Compensate> = {
  refusals: (order, { path = rootPath }) =>
    firstOf(
      () => whenFinished(order),
      () => whenUndone(order),
      () =>
        order.processState === 'Error'
          ? []
          : [refusal('not-blocked', `Only an order in Error can be compensated; this one is ${order.processState}. Cancel it instead.`)],
      () => (path === rootPath ? [] : ofScope(order, path)),
    ),
  event: (_, { path = rootPath }) =>
    path === rootPath ? { type: 'canceled', outcome: 'compensated' } : { type: 'instructed', instruction: { kind: 'compensate', path } },
  apply(builder, { path }) {
    if (path !== undefined) undoBlockedScope(builder, path);
  },
};

const ofScope = (order: Judged, path: string): readonly InstructionRefusal[] =>
  firstOf(
    () => whenSuspendedInError(order),
    () => ofPath(order, path),
    () => whileUndoing(order, path),
    () => ofOutputs(order, path),
  );

function ofPath({ program, state }: Judged, path: string): readonly InstructionRefusal[] {
  const { activities, blocked } = state;
  const about = { path, pointer: '/path' };
  const node = program.nodes.get(definitionPath(path));
  const isScope = node !== undefined && !isCustom(node) && behaviorOf(node.activity).children(node).length > 0;
  if (!isScope || isOfUndo(program, path))
    return [
      refusal('no-such-step', `${path} is not a scope of this workflow.${proposalFor(program, path)} ${choicesIn(program, state)}`, about),
    ];
  const activity = activities[path];
  if (!activity) return [refusal('moved-on', `${path} is not open, so it cannot be undone alone. ${choicesIn(program, state)}`, about)];
  if (activity.status !== 'Executing' && !activity.awaitsPerson && !activity.handling)
    return [refusal('moved-on', `${path} is ending already. ${choicesIn(program, state)}`, about)];
  return blocked && !blocked.reported && !isAt(blocked.path, path)
    ? [refusal('other-branch', `${path} is not around ${blocked.path}, where the order is blocked. ${choicesIn(program, state)}`, about)]
    : [];
}

/** Returns a sentence with the scopes that can be undone alone. */
function choicesIn(program: Program, { activities, blocked }: Judged['state']): string {
  const scopes = Object.keys(activities).filter((path) => path !== rootPath && blocked && isWithin(blocked.path, path));
  const open = scopes.filter((path) => !isCustom(nodeAt(program, path)));
  return open.length === 0
    ? 'Leave out "path" to undo the whole order.'
    : `Name one of ${open.join(', ')}, or undo the whole order without "path".`;
}

const whileUndoing = ({ program, state }: Judged, scope: string): readonly InstructionRefusal[] =>
  Object.entries(state.activities).some(
    ([path, activity]) => isAt(path, scope) && (undoneScope(activity) !== undefined || stepAt(program, state, path)?.mode !== undefined),
  )
    ? [refusal('undo-running', `Something in ${scope} is being undone, canceled or confirmed. Resubmit the order to finish that first.`)]
    : [];

/** Returns a reason for each output of the scope that an activity outside still needs: an undone scope has no outputs. */
const ofOutputs = ({ program, state }: Judged, scope: string): readonly InstructionRefusal[] =>
  [...program.nodes].flatMap(([path, node]) => {
    if (!isWithin(path, definitionPath(scope)) || !answersLater(node) || isOfUndo(program, path)) return [];
    const readers = readersOf(program, node.name).filter((reader) => needsOutput(program, state, scope, reader));
    return readers.length === 0
      ? []
      : [refusal('output-missing', `The output of ${path} would be missing, and ${readers.join(', ')} reads it.`, { path })];
  });

function needsOutput(program: Program, state: Judged['state'], scope: string, reader: string): boolean {
  const around = definitionPath(scope);
  const undone = undoneBy(program, reader);
  if (isWithin(reader, around) || (undone !== undefined && isAt(undone, around))) return false;
  const place = placeOf(program, state, reader);
  return place !== 'behind' && place !== 'handler' && place !== 'other-branch';
}
