import { isObject } from '#core/data/json';
import type { Breaker } from '#ports/circuit-breaker';
import type { Clock } from '#ports/clock';
import type { Outgoing, Received } from '#ports/queues';
import { jsonIn } from '#ports/util/json';

/**
 * A fault while its experiment runs. Each function is a point at which the fault acts or observes. The engine does not know of the fault.
 */
export interface Fault {
  /** Sentences that say what should happen, in order. */
  readonly steps: readonly string[];
  /** Whether a message gets lost when it is sent. */
  loses?(message: Outgoing): boolean;
  /** Whether nobody may receive messages of a queue now. */
  silences?(queue: string): boolean;
  /** Called while a silenced queue holds messages. */
  waits?(): void;
  /** Looks at each delivery. The answer `again` delivers the message once more. */
  delivered?(queue: string, message: Received): 'again' | undefined;
  acknowledged?(queue: string, message: Received): void;
  /** Whether a call of an agent's service fails now. */
  failsCallOf?(agent: string): boolean;
  answered?(agent: string): void;
  breakerWritten?(breaker: Breaker): void;
  /** Whether the scheduler is killed now: after the writes of a run, before the acknowledgement of its messages. */
  kills?(): boolean;
  /** Whether the scheduler starts again before this run. */
  restarts?(): boolean;
}

/** The values from which a fault of an experiment is created. */
export interface FaultContext {
  /** The agent that the fault affects; empty for the scheduler. */
  readonly agent: string;
  /** The duration of the fault, in milliseconds. */
  readonly ms: number;
  readonly clock: Clock;
  /** Records that a step has happened, once. */
  readonly happened: (step: number, more?: { readonly orderId?: string | undefined; readonly note?: string }) => void;
  /** Ends the receives that wait, so that the fault acts at once. */
  readonly interrupt: () => void;
}

export type CreateFault = (context: FaultContext) => Fault;

/** The fields by which an experiment recognizes a request or a reply. */
export interface About {
  readonly type: string;
  readonly orderId: string;
  readonly path: string;
  readonly requestId: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
}

/** Returns the fields of a message; none if it is no JSON object. */
export function aboutOf(body: string): Partial<About> {
  const message = jsonIn(body);
  return isObject(message) ? (message as Partial<About>) : {};
}
