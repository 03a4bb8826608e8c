import { behaviorOf } from '#core/activities/index';
import { type Retry, retry } from '#core/activities/retry';
import type { Step } from '#core/activities/step';
import { engineFaults, type Fault, isKindOf, isTransient } from '#core/data/fault';
import type { Activity, FaultHandler, WorkflowDefinition } from '#core/definition/definition';
import { rootPath } from '#core/definition/definition';
import { childrenOf, type Program, parentOf, programOf } from '#core/definition/program';

/** What becomes of one fault at one place, before any order has met it (F-163). */
export interface FaultPath {
  /** Of the step, or of the activity that raises it; loops show no turn. */
  readonly path: string;
  /** With its ancestors: `Refused/CardDeclined`; `silence` where no answer comes. */
  readonly fault: string;
  readonly origin: 'declared' | 'raised' | 'engine';
  /** Retries that run it again, as long as they have runs left: the innermost first. */
  readonly retries: readonly RetryTaken[];
  /** Then the same step is asked again as it is late, as often as the supervisor allows. */
  readonly askedAgain: boolean;
  readonly end: FaultEnd;
}

export interface RetryTaken {
  readonly path: string;
  readonly retries: number;
  /** Seconds. */
  readonly intervalSeconds: number;
  readonly except: readonly string[];
  /** For a retry with `only`. */
  readonly only?: readonly string[];
  readonly undoFirst: boolean;
}

/** Who has the last word. */
export type FaultEnd =
  | {
      readonly kind: 'handled';
      /** Of the composite whose handler it is. */
      readonly at: string;
      /** Of the handler's body. */
      readonly handler: string;
      /** In the order of the definition; what stands in a branch may be left out. */
      readonly does: readonly HandlerAct[];
      /** Whether the order goes on behind the composite; behind the root, it ends. */
      readonly goesOn: boolean;
    }
  /** The order is held; `foreseen` where `toOperator` names the fault. */
  | { readonly kind: 'operator'; readonly foreseen: boolean }
  /** It goes on being asked, after long waits. */
  | { readonly kind: 'waits' }
  /** The whole order is undone. */
  | { readonly kind: 'undone' };

export type HandlerAct =
  | { readonly kind: 'undoes'; readonly scope: string }
  | { readonly kind: 'raises'; readonly fault: string }
  | { readonly kind: 'terminates' };

export const silence = 'silence';

/**
 * For each step, each fault that it declares and those of the engine that come by its agent; for each `raise`, its own.
 * An undo is not here: it is repeated until it succeeds, and its faults go nowhere.
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

/** By the engine's own rules: `takes` in `draft.ts`, `woundUp` in `winding-up.ts`. */
export function faultPathOf(program: Program, path: string, fault: Raised, origin: FaultPath['origin']): FaultPath {
  const { retries, end } = wayOf(program, path, fault);
  const found = { path, fault: fault.type, origin, retries };
  // Where no agent is asked, nothing waits for the next time.
  if (end || fault.permanent || origin === 'raised') return { ...found, askedAgain: false, end: end ?? blockedFor(program, fault) };
  const { onExhausted = 'error' } = program.definition;
  // The retry has asked often enough.
  if (retries.length > 0 && onExhausted === 'error') return { ...found, askedAgain: false, end: blockedFor(program, fault) };
  return afterSilence(program, found);
}

const blockedFor = (program: Program, { type }: Raised): FaultEnd => ({
  kind: 'operator',
  foreseen: program.definition.toOperator.some((each) => isKindOf(type, each)),
});

/** The retries that take it as long as they have runs left, and whose handler takes it then. */
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
  const { deadlineExceeded, invalidReply, serviceUnavailable } = engineFaults;
  return [
    withinSeconds === undefined
      ? afterSilence(program, { path, fault: silence, origin: 'engine', retries: [] })
      : { ...engine(deadlineExceeded), fault: silence, askedAgain: true },
    engine(serviceUnavailable, false),
    engine(invalidReply, true),
    ...(program.definition.completeWithinSeconds === undefined && withinSeconds === undefined ? [] : [engine(deadlineExceeded, true)]),
  ];
}

/** What `onExhausted` says of a step that nobody answers. */
function afterSilence(program: Program, found: Omit<FaultPath, 'askedAgain' | 'end'>): FaultPath {
  const { onExhausted = 'error', recover } = program.definition;
  if (onExhausted === 'wait') return { ...found, askedAgain: true, end: { kind: 'waits' } };
  if (onExhausted === 'undo') return { ...found, askedAgain: true, end: { kind: 'undone' } };
  // Where the order is recovered as a whole, no single step is late.
  if (onExhausted === 'error' || recover === 'order') return { ...found, askedAgain: true, end: { kind: 'operator', foreseen: false } };

  const late = lateFaultOf(program, found.path);
  const way = wayOf(program, found.path, late);
  const more = way.retries.filter((each) => found.retries.every(({ path }) => path !== each.path));
  return { ...found, retries: [...found.retries, ...more], askedAgain: true, end: way.end ?? blockedFor(program, late) };
}

/** What may be asked for only once is in doubt then, and no retry asks for it again. */
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
    // A fault inside a handler goes further up: neither its composite's other handlers nor, if that is a retry, its runs.
    if (!node || isHandler(node, path, child)) continue;
    // While a retry directly around it runs it again, its handlers are passed over.
    const again = runsAgain(path, child) ?? runsAgain(parentOf(path), path);
    if (again) return again;
    const handler = node.faultHandlers?.find((each) => isKindOf(fault.type, each.fault));
    if (handler) return { kind: 'handler', path, handler };
  }
  return undefined;
}

const isHandler = ({ faultHandlers = [] }: Activity, path: string, child: string): boolean =>
  faultHandlers.some((handler) => `${path}/${handler.do.name}` === child);

const isUndo = (program: Program, path: string): boolean =>
  path.endsWith('/undo') && program.nodes.get(parentOf(path) ?? '')?.undo !== undefined;

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
      // One in a handler inside of this one raises what that one has caught.
      return handlerOf(program, path) === handler ? raises(program, path, fault, handler) : [];
    default:
      return [];
  }
}

/** Unless it is taken inside the handler itself. */
function raises(program: Program, path: string, fault: Raised, handler: string): readonly HandlerAct[] {
  const route = routeOf(program, path, fault, new Map());
  return route && `${route.path}/`.startsWith(`${handler}/`) ? [] : [{ kind: 'raises', fault: fault.type }];
}

/** The body of the nearest handler around a path. */
function handlerOf(program: Program, source: string): string | undefined {
  for (let child = source, path = parentOf(source); path !== undefined; child = path, path = parentOf(path)) {
    const node = program.nodes.get(path);
    if (node && isHandler(node, path, child)) return child;
  }
  return undefined;
}

/** A composite by its name; or the one whose handler a path is in. */
function scopeOf(program: Program, source: string, name: string | undefined): string {
  if (name !== undefined) return [...program.nodes].find(([, node]) => node.name === name)?.[0] ?? rootPath;
  for (let child = source, path = parentOf(source); path !== undefined; child = path, path = parentOf(path)) {
    const node = program.nodes.get(path);
    if (node && isHandler(node, path, child)) return path;
  }
  return rootPath;
}

/** Whether something can come after an activity: it does not always end in a fault or with the order. */
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
