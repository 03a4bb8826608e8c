import type { FaultClass, FaultTag } from '#core/data/fault';
import type { Json } from '#core/data/json';
import type { ProcessState, Status } from '#core/data/state';

/** The states of an order and of its activity. `status` is null if the exception names no activity, or if the activity cannot be read. */
export interface Condition {
  readonly processState: ProcessState;
  readonly status: Status | null;
}

/** The handling of an exception: by whom, and how control came back to the order (F-138, F-139). */
export interface Handling {
  readonly by: 'rule' | 'recovery' | 'person' | 'supervisor';
  /** The rule's id, or the person's `sub`. */
  readonly id?: string;
  /** The order ends (`none`), requests the step again (`ready`), goes on elsewhere (`resumed`), or goes on at once (`parallel`). */
  readonly control: 'none' | 'ready' | 'resumed' | 'parallel';
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * An exception of an order as a record: one for each cause. A cause is a fault that no handler of its scopes takes, an observation of the
 * monitor, or a report from outside.
 */
export interface ExceptionRecord {
  readonly id: string;
  readonly orderId: string;
  /** The number of the exception within its order, from 1. */
  readonly seq: number;
  /** The time at which the order was submitted. A new order may have the id of a forgotten one, but not its time. */
  readonly submittedAt: number;
  /** The reference that the client gave to the order. Absent in records of an older release too. */
  readonly reference?: string;
  readonly workflow: { readonly name: string; readonly version: number };
  /** The path of the activity; null if the exception names none. */
  readonly path: string | null;
  /** The path without the turns of loops. */
  readonly step: string | null;
  /** The last part of the fault's type: `CardDeclined`. */
  readonly type: string;
  readonly class: FaultClass;
  readonly tags: readonly FaultTag[];
  /** The message of the fault: at most 1,024 characters, without secrets. */
  readonly message: string;
  /** The data of the fault: at most 4 KB as JSON, without secrets. */
  readonly data?: Json;
  readonly before: Condition;
  readonly after: Condition;
  /** The number of requests of the step over the order's life. */
  readonly attempt: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly fingerprint: string;
  /** The message is a part of the fingerprint, although the fault is declared. */
  readonly groupBy?: 'message';
  /** Null while the exception is open. */
  readonly handling: Handling | null;
  /** The id of the exception of which this one is a consequence, or of the order whose recovery led to it. */
  readonly causedBy?: string;
  /** The id of the task that waits for a person. */
  readonly taskId?: string;
}

export const exceptionLimits = { messageCharactersMax: 1024, dataBytesMax: 4 * 1024 } as const;
