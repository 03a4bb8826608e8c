import { isRemote } from '#core/definition/definition';
import { didYouMean } from './suggest.ts';
import { aroundOf, everyIn, isComposite, type Placed, type Report } from './tree.ts';

/** What is compensated is known beforehand, and what would stay as it is, is said (F-99). */
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
      `It has no undo: what it did stays when ${scope.path} is compensated. Give it one, .undo(…), or say that it is to stay: .noUndo().`,
      'warning',
    );
}

function handledAround(placed: Placed, report: Report): Placed | undefined {
  const handler = [placed, ...aroundOf(placed)].find(({ part }) => part === 'handler');
  if (!handler) report(placed.path, "Outside of a fault handler it must name the scope that it undoes: compensate('…').");
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
  else if (!isComposite(scope)) report(placed.path, `"${name}" (${scope.path}) has nothing inside it. Put it into a scope, and name that.`);
  else if (isInOtherTurn(scope, placed))
    report(placed.path, `"${name}" (${scope.path}) is inside a loop, so it is not one scope but many.`);
  else if (mayStillRun(scope, placed))
    report(
      placed.path,
      `"${name}" (${scope.path}) may still be at work here, and what it does later would stay. Compensate it behind it, or in one of its handlers.`,
    );
  else return scope;
  return undefined;
}

/** It lies around the compensate, which is none of its handlers; or it is a branch beside it. */
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

/** What a handler of the scope did itself is none of what it undoes. */
const lastingIn = (scope: Placed): readonly Placed[] =>
  scope.inside
    .filter(({ part }) => part === 'child')
    .flatMap((child) => [...everyIn(child)])
    // What is undone as a whole needs no undo of its parts.
    .filter((each) => ![...aroundOf(each)].some(({ node, path }) => node.undo && path.startsWith(`${scope.path}/`)))
    .filter(({ node, part }) => isRemote(node) && part !== 'undo' && node.undo === undefined && !node.noUndo);
