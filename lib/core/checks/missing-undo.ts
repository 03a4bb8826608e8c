import { isRemote } from '#core/definition/definition';
import { didYouMean } from './suggest.ts';
import { aroundOf, everyIn, isComposite, type Placed, type Report } from './tree.ts';

/**
 * Checks every `compensate`: it must name a known scope, unless it is in a handler and so means the scope that has the handler.
 * Steps without an undo inside the scope get a warning (F-99).
 */
export function checkUndoing(root: Placed, report: Report): void {
  const all = [...everyIn(root)];
  const withoutUndo = new Map<Placed, Placed>();
  for (const placed of all) {
    if (placed.node.activity !== 'compensate') continue;
    const { scope: name } = placed.node;
    const scope = name === undefined ? handledScope(placed, report) : named(name, placed, all, report);
    if (scope) for (const step of withoutUndoIn(scope)) if (!withoutUndo.has(step)) withoutUndo.set(step, scope);
  }
  for (const [step, scope] of withoutUndo)
    report(
      step.path,
      `This step has no undo, so its effect stays when ${scope.path} is compensated. Give it one, .undo(…), or declare that its effect stays: .noUndo().`,
      'warning',
    );
}

/** Returns the scope whose handler contains the `compensate`. */
function handledScope(placed: Placed, report: Report): Placed | undefined {
  const handler = [placed, ...aroundOf(placed)].find(({ part }) => part === 'handler');
  if (!handler) report(placed.path, "Outside of a fault handler, compensate must name its scope: compensate('…').");
  return handler?.around;
}

function named(name: string, placed: Placed, all: readonly Placed[], report: Report): Placed | undefined {
  const found = all.filter(({ node }) => node.name === name);
  const [scope, ...others] = found;
  if (!scope) {
    const known = all.filter(isComposite).map(({ node }) => node.name);
    report(placed.path, `No scope is named "${name}".${didYouMean(name, known)}`);
  } else if (others.length > 0)
    report(
      placed.path,
      `${found.length} activities are named "${name}" (${found.map(({ path }) => path).join(', ')}). Give all but one of them another name: .named('…').`,
    );
  else if (!isComposite(scope))
    report(placed.path, `"${name}" (${scope.path}) has no inner activities. Put it into a scope, and name that scope.`);
  else if (isInOtherTurn(scope, placed))
    report(
      placed.path,
      `"${name}" (${scope.path}) is inside a loop, so it is not one scope but many. Compensate it inside the loop, or name a scope around the loop.`,
    );
  else if (mayStillRun(scope, placed))
    report(
      placed.path,
      `"${name}" (${scope.path}) may still be running here, and its later effects would stay. Compensate the scope after its end, or in one of its handlers.`,
    );
  else return scope;
  return undefined;
}

/**
 * Whether the scope may still run at the `compensate`: the scope contains it, but not in a handler, or the two are in different
 * branches of a parallel activity.
 */
function mayStillRun(scope: Placed, compensate: Placed): boolean {
  const aroundCompensate = [compensate, ...aroundOf(compensate)];
  const aroundScope = [scope, ...aroundOf(scope)];
  const common = aroundScope.find((each) => aroundCompensate.includes(each));
  const branchOfCompensate = aroundCompensate.find(({ around }) => around === common);
  const branchOfScope = aroundScope.find(({ around }) => around === common);
  if (branchOfCompensate?.part !== 'child') return false;
  return common === scope || (common?.node.activity === 'parallel' && branchOfScope?.part === 'child');
}

const isInOtherTurn = (scope: Placed, placed: Placed): boolean => {
  const around = [...aroundOf(placed)];
  return [...aroundOf(scope)].some(
    (each) => (each.node.activity === 'forEach' || each.node.activity === 'while') && !around.includes(each),
  );
};

/**
 * Returns the steps of a scope that have no undo, so that their effects stay. A handler does not undo its own work, so its steps are left
 * out.
 */
const withoutUndoIn = (scope: Placed): readonly Placed[] =>
  scope.inside
    .filter(({ part }) => part === 'child')
    .flatMap((child) => [...everyIn(child)])
    // The undo of a composite inside the scope replaces the undos of its parts. An undo of the scope itself does not: `compensate` undoes the parts.
    .filter((each) => ![...aroundOf(each)].some(({ node, path }) => node.undo && path.startsWith(`${scope.path}/`)))
    .filter(({ node, part }) => isRemote(node) && part !== 'undo' && node.undo === undefined && !node.noUndo);
