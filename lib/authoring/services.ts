import type { Json } from '#core/data/json';

/**
 * Events that a host sends to its app. Two have the names that Windows Workflow Foundation (WF) gave them. If a listener throws, the host
 * logs the error and continues.
 */
export interface HostEvents {
  /** The host is running, and the services of the app are started. */
  started: { readonly hostId: string; readonly role: string };
  /** The host shuts down, or gives up because of `error`. Lambda never sends this event. */
  stopped: { readonly hostId: string; readonly role: string; readonly error?: unknown };
  /** Despite its name (WF), the order has not ended: it is blocked, because no handler takes its fault. */
  workflowTerminated: {
    readonly orderId: string;
    readonly workflow: { readonly name: string; readonly version: number };
    readonly fault: { readonly type: string; readonly class: string; readonly message: string; readonly source?: string } | null;
  };
  /** A service of the runtime or of the app failed, for one order or in general (WF). */
  servicesExceptionNotHandled: { readonly service: string; readonly orderId?: string; readonly error: unknown };
}

/** The app's listeners for the events of its host. */
export type HostListeners = { readonly [E in keyof HostEvents]?: (detail: HostEvents[E]) => void | Promise<void> };

/** An order that a service submits. */
export interface ServiceSubmission {
  readonly client: string;
  /** The client's own key for this submission. The same key again returns the same order. */
  readonly idempotencyKey: string;
  readonly workflow?: string;
  readonly order: Json;
  readonly reference?: string;
}

export type ServiceSubmitted =
  | { readonly outcome: 'accepted'; readonly order: { readonly orderId: string }; readonly replayed: boolean }
  | { readonly outcome: 'invalid'; readonly problems: readonly { readonly pointer: string; readonly detail: string }[] }
  | { readonly outcome: 'key-reused' };

/** The argument of a service's `start` (WF: runtime services). No base class is needed. */
export interface ServiceRuntime {
  /** The name of the process. */
  readonly hostId: string;
  /** `local` if one process runs everything; in Lambda, the name of the function, such as `scheduler`. */
  readonly role: string;
  readonly clock: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> };
  /** Submits an order. In Lambda, only the functions `api` and `submissions` have the permission for it. */
  submit(submission: ServiceSubmission): Promise<ServiceSubmitted>;
  /** Reports a failure, for one order or in general. The host and other services continue. */
  raiseServicesExceptionNotHandled(error: unknown, orderId?: string): void;
}

/** A service of the app that runs as long as the process. */
export interface RuntimeService {
  readonly name: string;
  /** Called once in a process, before it takes any work. If it throws, the process does not start. */
  start(runtime: ServiceRuntime): void | Promise<void>;
  /** Called when the process has drained. Lambda ends a process without this call. */
  stop?(): void | Promise<void>;
}
