import type { Retry } from '#core/activities/retry';
import { anyFault, isKindOf, isTransient } from '#core/data/fault';
import { isRemote } from '#core/definition/definition';
import type { Placed, Report } from './tree.ts';

/** Declared faults that may leave an activity, each with the path that raises it. */
type Leaving = ReadonlyMap<string, string>;

/** Checks which faults can occur where, and which handler catches them (F-69, F-163). */
export function checkHandlers(root: Placed, sentOn: readonly string[], report: Report): void {
  for (const [fault, path] of leavingOf(root, report, undefined)) {
    // A transient fault is retried, and the supervisor's rules decide the rest.
    if (isKindOf(fault, 'Engine') || isTransient(fault) || sentOn.some((type) => isKindOf(fault, type))) continue;
    report(path, `"${fault}" is neither handled nor sent to an operator: name it in toOperator, or handle it.`, 'warning');
  }
}

/** Returns the faults that may leave an activity. `caught`: the faults that the nearest enclosing handler may have caught. */
function leavingOf(placed: Placed, report: Report, caught: Leaving | undefined): Leaving {
  const { node, path, isSound } = placed;
  if (!isSound) return new Map();
  if (isRemote(node)) return new Map((node.faults ?? []).map((fault) => [fault, path]));
  if (node.activity === 'rethrow') {
    if (!caught) report(path, 'A rethrow needs a fault handler around it. Use it inside .on(…), or raise a fault by its name.');
    return new Map([...(caught ?? [])].map(([fault]) => [fault, path]));
  }
  if (node.activity === 'raise') return new Map([[node.fault, path]]);

  const within = merged(placed.inside.filter(({ part }) => part === 'child').map((child) => leavingOf(child, report, caught)));
  if (node.activity === 'retry') checkNamed(placed, node, within, report);
  const handlers = placed.inside.filter(({ part }) => part === 'handler');
  checkShadows(placed, report);
  // A custom activity may raise faults.
  const own = 'faults' in node ? ((node.faults as readonly string[] | undefined) ?? []) : [];
  let left: Leaving = merged([within, new Map(own.map((fault) => [fault, path]))]);
  const taken: Leaving[] = [];
  for (const { fault, do: body } of node.faultHandlers ?? []) {
    if (fault !== anyFault && !isKindOf(fault, 'Engine') && !isRaised(fault, within))
      report(`${path}/${body?.name}`, `No step inside ${path} declares or raises "${fault}".`, 'warning');
    taken.push(new Map([...left].filter(([each]) => isKindOf(each, fault))));
    left = new Map([...left].filter(([each]) => !isKindOf(each, fault)));
  }
  return merged([left, ...handlers.map((handler, index) => leavingOf(handler, report, taken[index] ?? new Map()))]);
}

const isRaised = (fault: string, within: Leaving): boolean => [...within.keys()].some((each) => isKindOf(each, fault));
const merged = (all: readonly Leaving[]): Leaving => new Map(all.flatMap((each) => [...each]));

function checkShadows({ node, path }: Placed, report: Report): void {
  const handlers = node.faultHandlers ?? [];
  for (const [index, { fault, do: body }] of handlers.entries()) {
    const earlier = handlers.slice(0, index).find((handler) => isKindOf(fault, handler.fault));
    if (!earlier) continue;
    const place = `${path}/${body?.name}`;
    if (earlier.fault === fault) report(place, `A second handler for "${fault}": only the first of them can run.`);
    else
      report(
        place,
        `The handler for "${fault}" can never run: the one for "${earlier.fault}" comes before it and catches the fault. Put it first.`,
      );
  }
}

/** Checks the faults that a retry names. Engine faults may occur anywhere. */
function checkNamed({ path }: Placed, { except = [], only = [] }: Retry, within: Leaving, report: Report): void {
  const isNowhere = (fault: string): boolean => fault !== anyFault && !isKindOf(fault, 'Engine') && !isRaised(fault, within);
  for (const fault of except.filter(isNowhere))
    report(path, `No step inside declares or raises "${fault}", which "except" names.`, 'warning');
  for (const fault of only.filter(isNowhere)) report(path, `No step inside declares or raises "${fault}", which "only" names.`, 'warning');
}
