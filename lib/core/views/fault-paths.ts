import { behaviorOf } from '#core/activities/index';
import { type Retry, retry } from '#core/activities/retry';
import type { Step } from '#core/activities/step';
import { engineFaults, type Fault, isKindOf, isTransient } from '#core/data/fault';
import { isUndoPath } from '#core/data/ids';
import type { Activity, FaultHandler, WorkflowDefinition } from '#core/definition/definition';
import { rootPath } from '#core/definition/definition';
import { childrenOf, type Program, parentOf, programOf } from '#core/definition/program';

/** The path of one fault from one activity, derived from the definition alone (F-163). */
export interface FaultPath {
  /** The path of the step, or of the activity that raises it. Loops show no turn. */
  readonly path: string;
  /** The type with its ancestors: `Refused/CardDeclined`; `silence` if no reply comes. */
  readonly fault: string;
  readonly origin: 'declared' | 'raised' | 'engine';
  /** The retries that run the activity again while they have runs left, innermost first. */
  readonly retries: readonly RetryTaken[];
  /** Whether the step, after its retries, is requested again as overdue, up to the failure limit. */
  readonly askedAgain: boolean;
  readonly end: FaultEnd;
}

export interface RetryTaken {
  readonly path: string;
  readonly retries: number;
  /** Seconds. */
  readonly intervalSeconds: number;
  readonly except: readonly string[];
  /** Present for a retry with `only`. */
  readonly only?: readonly string[];
  readonly undoFirst: boolean;
}

/** The final outcome of a fault. */
export type FaultEnd =
  | {
      readonly kind: 'handled';
      /** The path of the composite that has the handler. */
      readonly at: string;
      /** The path of the handler's body. */
      readonly handler: string;
      /** The acts in the order of the definition. Acts in a branch may not happen. */
      readonly does: readonly HandlerAct[];
      /** Whether the order continues after the composite. After the root, the order ends. */
      readonly goesOn: boolean;
    }
  /**
   * The order is blocked. `foreseen`: `toOperator` or `toCaller` names the fault. `toCaller`: a called order is undone instead, and its
   * caller has the fault.
   */
  | { readonly kind: 'operator'; readonly foreseen: boolean; readonly toCaller?: true }
  /** The step is requested again and again, after long pauses. */
  | { readonly kind: 'waits' }
  /** The whole order is compensated. */
  | { readonly kind: 'undone' };

export type HandlerAct =
  | { readonly kind: 'undoes'; readonly scope: string }
  | { readonly kind: 'raises'; readonly fault: string }
  | { readonly kind: 'terminates' };

export const silence = 'silence';

/**
 * Returns the paths of all faults: for each step its declared faults and those of the engine, for each `raise` its own.
 * Undos are left out. They repeat until they succeed, and their faults do not propagate.
 */
export function faultPathsOf(definition: WorkflowDefinition): readonly FaultPath[] {
  const program = programOf(definition);
  return [...program.nodes].flatMap(([path, node]): readonly FaultPath[] => {
    if (node.activity === 'raise') return [faultPathOf(program, path, declaredFault(node.fault), 'raised')];
    if (isUndo(program, path)) return [];
    const declared = declaredIn(node).map((type) => faultPathOf(program, path, declaredFault(type), 'declared'));
    return [...declared, ...engineFaultPaths(program, path, node)];
  });
}

const declaredIn = (node: Activity): readonly string[] => ('faults' in node ? ((node.faults as readonly string[] | undefined) ?? []) : []);

type Raised = Pick<Fault, 'type' | 'permanent'>;

const declaredFault = (type: string): Raised => ({ type, permanent: !isTransient(type) });

/**
 * Returns the path of one fault, by the same rules as the engine: `isHandled` in `fault-routing.ts`, `childrenClosed`
 * in `jobs.ts`.
 */
export function faultPathOf(program: Program, path: string, fault: Raised, origin: FaultPath['origin']): FaultPath {
  const { retries, end } = wayOf(program, path, fault);
  const found = { path, fault: fault.type, origin, retries };
  // A fault raised by the workflow involves no agent, so there is no later attempt.
  if (end || fault.permanent || origin === 'raised') return { ...found, askedAgain: false, end: end ?? blockedFor(program, fault) };
  const { onExhausted = 'error' } = program.definition;
  // The retries have used all their runs, so the order is blocked at once (`isUsedUp`).
  if (retries.length > 0 && onExhausted === 'error') return { ...found, askedAgain: false, end: blockedFor(program, fault) };
  return afterSilence(program, found);
}

function blockedFor({ definition: { toOperator, toCaller = [] } }: Program, { type }: Raised): FaultEnd {
  const isNamedIn = (types: readonly string[]): boolean => types.some((each) => isKindOf(type, each));
  if (isNamedIn(toCaller)) return { kind: 'operator', foreseen: true, toCaller: true };
  return { kind: 'operator', foreseen: isNamedIn(toOperator) };
}

/** Returns the retries that catch the fault while they have runs left, and the handler that catches it after their last run. */
function wayOf(program: Program, path: string, fault: Raised): { readonly retries: readonly RetryTaken[]; readonly end?: FaultEnd } {
  const used = new Map<string, RetryTaken>();
  for (;;) {
    const route = routeOf(program, path, fault, used);
    if (route?.kind !== 'retry') {
      const end = route && handledBy(program, route, fault);
      return { retries: [...used.values()], ...(end ? { end } : {}) };
    }
    const { retries, intervalSeconds, except = [], only, undoFirst = false } = route.node;
    used.set(route.path, { path: route.path, retries, intervalSeconds, except, ...(only ? { only } : {}), undoFirst });
  }
}

function engineFaultPaths(program: Program, path: string, node: Activity): readonly FaultPath[] {
  const engine = (type: string, permanent = true) => faultPathOf(program, path, { type, permanent }, 'engine');
  switch (node.activity) {
    case 'step':
      return stepFaultPaths(program, path, node, engine);
    case 'call':
      return [engine(engineFaults.childNotCompleted)];
    case 'waitFor':
      return node.withinSeconds === undefined ? [] : [engine(engineFaults.noSignal)];
    case 'compute':
      return [engine(engineFaults.computeFailed)];
    default:
      return [];
  }
}

function stepFaultPaths(
  program: Program,
  path: string,
  { withinSeconds }: Step,
  engine: (type: string, permanent?: boolean) => FaultPath,
): readonly FaultPath[] {
  const { deadlineExceeded, invalidReply, programmingError, serviceUnavailable } = engineFaults;
  return [
    withinSeconds === undefined
      ? afterSilence(program, { path, fault: silence, origin: 'engine', retries: [] })
      : { ...engine(deadlineExceeded), fault: silence, askedAgain: true },
    engine(serviceUnavailable, false),
    engine(invalidReply, true),
    engine(programmingError, true),
    ...(program.definition.completeWithinSeconds === undefined && withinSeconds === undefined ? [] : [engine(deadlineExceeded, true)]),
  ];
}

/** Returns the path of a step without a reply, as `onExhausted` defines it. */
function afterSilence(program: Program, found: Omit<FaultPath, 'askedAgain' | 'end'>): FaultPath {
  const { onExhausted = 'error', recover } = program.definition;
  if (onExhausted === 'wait') return { ...found, askedAgain: true, end: { kind: 'waits' } };
  if (onExhausted === 'undo') return { ...found, askedAgain: true, end: { kind: 'undone' } };
  // With `recover: 'order'` the order is reset as a whole, so no single step becomes late.
  if (onExhausted === 'error' || recover === 'order') return { ...found, askedAgain: true, end: { kind: 'operator', foreseen: false } };

  const late = lateFaultOf(program, found.path);
  const way = wayOf(program, found.path, late);
  const more = way.retries.filter((each) => found.retries.every(({ path }) => path !== each.path));
  return { ...found, retries: [...found.retries, ...more], askedAgain: true, end: way.end ?? blockedFor(program, late) };
}

/** Returns the fault of a late step. The outcome of an at-most-once operation is unknown, and no retry requests it again. */
function lateFaultOf(program: Program, path: string): Raised {
  const node = program.nodes.get(path);
  const isOnce = node?.activity === 'step' && node.atMostOnce === true;
  return isOnce ? { type: engineFaults.outcomeUnknown, permanent: true } : { type: engineFaults.deadlineExceeded, permanent: false };
}

type FaultRoute =
  | { readonly kind: 'retry'; readonly path: string; readonly node: Retry }
  | { readonly kind: 'handler'; readonly path: string; readonly handler: FaultHandler };

function routeOf(program: Program, source: string, fault: Raised, used: ReadonlyMap<string, unknown>): FaultRoute | undefined {
  const runsAgain = (path: string | undefined, child: string): FaultRoute | undefined => {
    const node = path === undefined ? undefined : program.nodes.get(path);
    if (path === undefined || node?.activity !== 'retry' || used.has(path) || isHandler(node, path, child)) return undefined;
    return retry.retries?.(node, { phase: 'trying', attempt: 1 }, fault as Fault) ? { kind: 'retry', path, node } : undefined;
  };
  for (let child = source, path = parentOf(source); path !== undefined; child = path, path = parentOf(path)) {
    const node = program.nodes.get(path);
    // A fault inside a handler propagates further up. The composite's other handlers do not catch it, nor does its
    // retry.
    if (!node || isHandler(node, path, child)) continue;
    // While the retry directly around an activity will run it again, the handlers of the activity are skipped.
    const again = runsAgain(path, child) ?? runsAgain(parentOf(path), path);
    if (again) return again;
    const handler = node.faultHandlers?.find((each) => isKindOf(fault.type, each.fault));
    if (handler) return { kind: 'handler', path, handler };
  }
  return undefined;
}

const isHandler = ({ faultHandlers = [] }: Activity, path: string, child: string): boolean =>
  faultHandlers.some((handler) => `${path}/${handler.do.name}` === child);

const isUndo = (program: Program, path: string): boolean => isUndoPath(path) && program.nodes.get(parentOf(path) ?? '')?.undo !== undefined;

function handledBy(
  program: Program,
  { path: at, handler: { do: body } }: Extract<FaultRoute, { kind: 'handler' }>,
  fault: Raised,
): FaultEnd {
  const handler = `${at}/${body.name}`;
  const inside = [...program.nodes].filter(([path]) => path === handler || path.startsWith(`${handler}/`));
  const does = inside.flatMap(([path, node]) => actOf(program, path, node, { handler, fault }));
  return { kind: 'handled', at, handler, does, goesOn: completes(body) };
}

function actOf(
  program: Program,
  path: string,
  node: Activity,
  { handler, fault }: { readonly handler: string; readonly fault: Raised },
): readonly HandlerAct[] {
  switch (node.activity) {
    case 'terminate':
      return [{ kind: 'terminates' }];
    case 'compensate':
      return [{ kind: 'undoes', scope: scopeOf(program, path, node.scope) }];
    case 'raise':
      return raises(program, path, declaredFault(node.fault), handler);
    case 'rethrow':
      // A rethrow in a nested handler raises the fault which that handler has caught.
      return handlerOf(program, path) === handler ? raises(program, path, fault, handler) : [];
    default:
      return [];
  }
}

/** Returns the fault that leaves a handler, unless it is caught inside. */
function raises(program: Program, path: string, fault: Raised, handler: string): readonly HandlerAct[] {
  const route = routeOf(program, path, fault, new Map());
  return route && `${route.path}/`.startsWith(`${handler}/`) ? [] : [{ kind: 'raises', fault: fault.type }];
}

/** Returns the body of the nearest handler around a path. */
function handlerOf(program: Program, source: string): string | undefined {
  for (let child = source, path = parentOf(source); path !== undefined; child = path, path = parentOf(path)) {
    const node = program.nodes.get(path);
    if (node && isHandler(node, path, child)) return child;
  }
  return undefined;
}

/** Returns the path of a composite by its name, or of the one whose handler contains the path. */
function scopeOf(program: Program, source: string, name: string | undefined): string {
  if (name !== undefined) return [...program.nodes].find(([, node]) => node.name === name)?.[0] ?? rootPath;
  for (let child = source, path = parentOf(source); path !== undefined; child = path, path = parentOf(path)) {
    const node = program.nodes.get(path);
    if (node && isHandler(node, path, child)) return path;
  }
  return rootPath;
}

/** Whether an activity can complete, and does not always raise a fault or end the order. */
function completes(node: Activity): boolean {
  switch (node.activity) {
    case 'raise':
    case 'rethrow':
    case 'terminate':
      return false;
    case 'step':
    case 'while':
    case 'forEach':
      return true;
    case 'choice':
      return node.otherwise === undefined || childrenOf(node).some(completes);
    default: {
      const inside = behaviorOf(node.activity).children(node);
      return inside.every(completes) || (node.faultHandlers ?? []).some((handler) => completes(handler.do));
    }
  }
}
