import type { Json } from '#core/data/json';

/** What the process that runs an app tells it. A listener's trouble is its own: it is logged, and orders go on. */
export interface HostEvents {
  /** The process works: the services of the app are started. */
  started: { readonly hostId: string; readonly role: string };
  /** The process ends in order, or gives up for `error`. In Lambda nothing says when a process ends. */
  stopped: { readonly hostId: string; readonly role: string; readonly error?: unknown };
  /** An order waits for a person, because nothing handles its fault (WF). */
  workflowTerminated: {
    readonly orderId: string;
    readonly workflow: { readonly name: string; readonly version: number };
    readonly fault: { readonly type: string; readonly class: string; readonly message: string; readonly source?: string } | null;
  };
  /** A service of the runtime, or of the app, failed in what concerns one order, or in general (WF). */
  servicesExceptionNotHandled: { readonly service: string; readonly orderId?: string; readonly error: unknown };
}

/** Listeners of an app for events of its host. */
export type HostListeners = { readonly [E in keyof HostEvents]?: (detail: HostEvents[E]) => void | Promise<void> };

/** An order that a service submits. */
export interface ServiceSubmission {
  readonly client: string;
  /** The client's own name for this submission: the same key again is the same order. */
  readonly idempotencyKey: string;
  readonly workflow?: string;
  readonly order: Json;
  readonly reference?: string;
}

export type ServiceSubmitted =
  | { readonly outcome: 'accepted'; readonly order: { readonly orderId: string }; readonly replayed: boolean }
  | { readonly outcome: 'invalid'; readonly problems: readonly { readonly pointer: string; readonly detail: string }[] }
  | { readonly outcome: 'key-reused' };

/** Given to a service of the app when a process starts it (WF: runtime services). No base class. */
export interface ServiceRuntime {
  /** Names the process. */
  readonly hostId: string;
  /** `local` where one process runs everything; in Lambda the name of the function: `scheduler`. */
  readonly role: string;
  readonly clock: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> };
  /** In Lambda only functions that take orders in have the right to it: `api`, `submissions`. */
  submit(submission: ServiceSubmission): Promise<ServiceSubmitted>;
  /** Says that it failed in what concerns one order, or in general; the host and other services go on. */
  raiseServicesExceptionNotHandled(error: unknown, orderId?: string): void;
}

/** Something of the app's own that lives as long as the process. */
export interface RuntimeService {
  readonly name: string;
  /** Called once in a process, before it takes any work. An error keeps the process from starting. */
  start(runtime: ServiceRuntime): void | Promise<void>;
  /** When the process has drained. Lambda ends a process without it. */
  stop?(): void | Promise<void>;
}
