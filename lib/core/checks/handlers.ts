import type { Retry } from '#core/activities/retry';
import { anyFault, isKindOf, isTransient } from '#core/data/fault';
import { isRemote } from '#core/definition/definition';
import type { Placed, Report } from './tree.ts';

/** Declared faults that may leave an activity, each with the path that raises it. */
type Leaving = ReadonlyMap<string, string>;

/**
 * Checks which faults can occur where, and which handler catches them (F-69, F-163). `escalated`: the faults that the workflow names in
 * `toOperator` or `toCaller`.
 */
export function checkHandlers(root: Placed, escalated: readonly string[], report: Report): void {
  for (const [fault, path] of checkedLeaving(root, report, undefined)) {
    // A workflow need not mention faults of the engine. It need not mention transient faults either: the step is requested again at its deadline.
    if (isKindOf(fault, 'Engine') || isTransient(fault) || escalated.some((type) => isKindOf(fault, type))) continue;
    report(path, `"${fault}" is not handled: handle it, or name it in toOperator or toCaller.`, 'warning');
  }
}

/**
 * Checks an activity with everything inside it, and returns the faults that may leave it. `caught`: the faults that the nearest
 * enclosing handler may have caught.
 */
function checkedLeaving(placed: Placed, report: Report, caught: Leaving | undefined): Leaving {
  const { node, path, isWellFormed } = placed;
  if (!isWellFormed) return new Map();
  if (isRemote(node)) return new Map((node.faults ?? []).map((fault) => [fault, path]));
  if (node.activity === 'rethrow') {
    if (!caught) report(path, 'A rethrow needs a fault handler around it. Use it inside .on(…), or raise a fault by its name.');
    return new Map([...(caught ?? [])].map(([fault]) => [fault, path]));
  }
  if (node.activity === 'raise') return new Map([[node.fault, path]]);

  const within = merged(placed.inside.filter(({ part }) => part === 'child').map((child) => checkedLeaving(child, report, caught)));
  if (node.activity === 'retry') checkFaultsOfRetry(placed, node, within, report);
  const handlers = placed.inside.filter(({ part }) => part === 'handler');
  checkShadows(placed, report);
  // A custom activity may raise faults of its own, which its own handlers may take.
  const own = 'faults' in node ? ((node.faults as readonly string[] | undefined) ?? []) : [];
  const raised: Leaving = merged([within, new Map(own.map((fault) => [fault, path]))]);
  let unhandled = raised;
  const taken: Leaving[] = [];
  for (const { fault, do: body } of node.faultHandlers ?? []) {
    if (fault !== anyFault && !isKindOf(fault, 'Engine') && !isRaised(fault, raised))
      report(
        `${path}/${body?.name}`,
        `Nothing inside ${path} declares or raises "${fault}". Correct the name, or remove the handler.`,
        'warning',
      );
    taken.push(new Map([...unhandled].filter(([each]) => isKindOf(each, fault))));
    unhandled = new Map([...unhandled].filter(([each]) => !isKindOf(each, fault)));
  }
  return merged([unhandled, ...handlers.map((handler, index) => checkedLeaving(handler, report, taken[index] ?? new Map()))]);
}

const isRaised = (fault: string, within: Leaving): boolean => [...within.keys()].some((each) => isKindOf(each, fault));
const merged = (all: readonly Leaving[]): Leaving => new Map(all.flatMap((each) => [...each]));

function checkShadows({ node, path }: Placed, report: Report): void {
  const handlers = node.faultHandlers ?? [];
  for (const [index, { fault, do: body }] of handlers.entries()) {
    const earlier = handlers.slice(0, index).find((handler) => isKindOf(fault, handler.fault));
    if (!earlier) continue;
    const place = `${path}/${body?.name}`;
    if (earlier.fault === fault) report(place, `A second handler for "${fault}": only the first one can run. Remove one of the two.`);
    else
      report(
        place,
        `The handler for "${fault}" can never run: the one for "${earlier.fault}" comes before it and catches the fault. Put the handler for "${fault}" before it.`,
      );
  }
}

/** Reports each fault in `except` or `only` that nothing inside the retry raises. Engine faults may occur anywhere. */
function checkFaultsOfRetry({ path }: Placed, { except = [], only = [] }: Retry, within: Leaving, report: Report): void {
  const isNowhere = (fault: string): boolean => fault !== anyFault && !isKindOf(fault, 'Engine') && !isRaised(fault, within);
  for (const [field, faults] of Object.entries({ except, only }))
    for (const fault of faults.filter(isNowhere))
      report(
        path,
        `Nothing inside the retry declares or raises "${fault}", which "${field}" names. Correct the name, or remove it.`,
        'warning',
      );
}
