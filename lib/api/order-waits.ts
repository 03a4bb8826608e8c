import { operatorAsked } from '#core/data/fault';
import { definitionPath, isUndoPath, undonePath } from '#core/data/ids';
import type { Json } from '#core/data/json';
import type { Program } from '#core/definition/program';
import { type Wait, waitOf } from '#core/views/waits';
import type { StateHead } from '#ports/records';
import type { ActivityReport } from '#roles/scheduler/step-report';

/** A service that is away, or a closed channel. The request of a step has waited for this agent since `since`: milliseconds since 1970. */
export interface Outage {
  readonly kind: 'outage';
  readonly agent: string;
  readonly since: number;
}

/** The wait for the next request of an undo that keeps failing, or of a step whose outcome cannot be confirmed. */
interface Failing {
  readonly kind: 'undo' | 'confirmation';
}

/** A signal whose name the head of the order does not tell. */
interface AnySignal {
  readonly kind: 'signal';
  readonly name: null;
}

/** The event for which a whole order waits, because nothing else happens until then. */
export type OrderWait = (Wait | Outage | Failing | AnySignal) & {
  readonly path: string | null;
  /** The end of the wait, or the next request: milliseconds since 1970. Null if it is unknown. */
  readonly until: number | null;
};

/**
 * Returns the event for which an order waits, from its head alone, so that a list reads no instance. The next deadline decides. An outage
 * is known once a step was late because of it. Undefined while the order waits for nothing.
 */
export function waitOfHead(head: StateHead, program: Program | undefined): OrderWait | undefined {
  const { processState, suspended, nextDueFor, nextDueAt, fault } = head;
  if (processState === 'Error' && fault?.type === operatorAsked)
    return { kind: 'answer', question: fault.message, path: fault.source ?? null, until: null };
  if (processState !== 'Processing' || suspended) return undefined;
  if (nextDueFor === null) return program && signalWithoutLimit(program);
  const { agent, waitingSince, kind, path = null, failing, pauses } = nextDueFor;
  if (agent !== undefined && waitingSince !== undefined) return { kind: 'outage', agent, since: waitingSince, path, until: null };
  if (failing !== undefined) {
    const until = path === failing ? nextDueAt : null;
    return isUndoPath(failing) ? { kind: 'undo', path: undonePath(failing), until } : { kind: 'confirmation', path: failing, until };
  }
  const node = kind === 'timer' && path !== null ? program?.nodes.get(definitionPath(path)) : undefined;
  const isPause = pauses === true || node?.activity === 'retry';
  const wait = isPause ? { kind: 'time' as const } : node && waitOf(node);
  // A caller polls its called order. The time of the next poll is not the end of the wait.
  return wait && { ...wait, path, until: wait.kind === 'order' ? null : nextDueAt };
}

/** An order without any deadline waits for a signal that may come at any time. */
function signalWithoutLimit({ nodes }: Program): OrderWait | undefined {
  const found = [...nodes].flatMap(([path, node]) =>
    node.activity === 'waitFor' && node.withinSeconds === undefined ? [{ path, name: node.signal }] : [],
  );
  const [only, ...others] = found;
  if (!only) return undefined;
  return others.length === 0 ? { kind: 'signal', ...only, until: null } : { kind: 'signal', name: null, path: null, until: null };
}

/** The progress of an activity, with the outage that stops its requests. */
export interface Followed extends Omit<ActivityReport, 'waitsFor'> {
  readonly waitsFor: Wait | Outage | null;
  /** The input of an open step. */
  readonly input?: Json;
}

/** Returns the event for which an order waits, from the progress of its activities, which tells more than the head. */
export function waitOfOrder(head: StateHead, program: Program | undefined, followed: readonly Followed[]): OrderWait | undefined {
  const ofHead = waitOfHead(head, program);
  if (head.processState !== 'Processing' || head.suspended) return ofHead;
  if (ofHead?.kind === 'undo' || ofHead?.kind === 'confirmation') return ofHead;
  const active = followed.filter(({ status }) => status !== 'Initialized' && status !== 'Closed');
  if (active.some(({ waitsFor }) => waitsFor === null)) return undefined;
  const [first] = active;
  if (!first?.waitsFor) return ofHead;
  const { waitsFor, path, completeBy } = first;
  return { ...waitsFor, path, until: waitsFor.kind === 'signal' || waitsFor.kind === 'time' ? completeBy : null };
}
