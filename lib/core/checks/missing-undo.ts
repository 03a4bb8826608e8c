import { isRemote } from '#core/definition/definition';
import { didYouMean } from './suggest.ts';
import { aroundOf, everyIn, isComposite, type Placed, type Report } from './tree.ts';

/** Checks every compensation: it must name a known scope. Steps without an undo inside that scope get a warning (F-99). */
export function checkUndoing(root: Placed, report: Report): void {
  const all = [...everyIn(root)];
  const lasting = new Map<Placed, Placed>();
  for (const placed of all) {
    if (placed.node.activity !== 'compensate') continue;
    const { scope: name } = placed.node;
    const scope = name === undefined ? handledAround(placed, report) : named(name, placed, all, report);
    if (scope) for (const step of lastingIn(scope)) if (!lasting.has(step)) lasting.set(step, scope);
  }
  for (const [step, scope] of lasting)
    report(
      step.path,
      `This step has no undo, so its effect stays when ${scope.path} is compensated. Give it one, .undo(…), or declare that its effect stays: .noUndo().`,
      'warning',
    );
}

function handledAround(placed: Placed, report: Report): Placed | undefined {
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
      `${found.length} activities are named "${name}" (${found.map(({ path }) => path).join(', ')}). Name one: .named('…').`,
    );
  else if (!isComposite(scope))
    report(placed.path, `"${name}" (${scope.path}) has no inner activities. Put it into a scope, and name that scope.`);
  else if (isInOtherTurn(scope, placed))
    report(placed.path, `"${name}" (${scope.path}) is inside a loop, so it is not one scope but many.`);
  else if (mayStillRun(scope, placed))
    report(
      placed.path,
      `"${name}" (${scope.path}) may still be running here, and its later effects would stay. Compensate the scope after its end, or in one of its handlers.`,
    );
  else return scope;
  return undefined;
}

/** Whether the scope may still run at the `compensate`: the scope encloses it, other than by a handler, or runs in a parallel branch. */
function mayStillRun(scope: Placed, placed: Placed): boolean {
  const here = [placed, ...aroundOf(placed)];
  const there = [scope, ...aroundOf(scope)];
  const together = there.find((each) => here.includes(each));
  const ofPlaced = here.find(({ around }) => around === together);
  const ofScope = there.find(({ around }) => around === together);
  if (ofPlaced?.part !== 'child') return false;
  return together === scope || (together?.node.activity === 'parallel' && ofScope?.part === 'child');
}

const isInOtherTurn = (scope: Placed, placed: Placed): boolean => {
  const around = [...aroundOf(placed)];
  return [...aroundOf(scope)].some(
    (each) => (each.node.activity === 'forEach' || each.node.activity === 'while') && !around.includes(each),
  );
};

/** Returns the steps whose effect stays. A handler does not undo its own work, so its steps do not count. */
const lastingIn = (scope: Placed): readonly Placed[] =>
  scope.inside
    .filter(({ part }) => part === 'child')
    .flatMap((child) => [...everyIn(child)])
    // The undo of a composite replaces the undos of its parts.
    .filter((each) => ![...aroundOf(each)].some(({ node, path }) => node.undo && path.startsWith(`${scope.path}/`)))
    .filter(({ node, part }) => isRemote(node) && part !== 'undo' && node.undo === undefined && !node.noUndo);
