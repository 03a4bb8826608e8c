import { randomBytes } from 'node:crypto';
import type { Issuer } from '#api/app';
import type { App } from '#authoring/workflow';
import type { Clock } from '#ports/clock';
import type { Consumers } from '#ports/consumers';
import type { Definitions } from '#ports/definitions';
import type { Publisher } from '#ports/event-bus';
import type { Queues } from '#ports/queues';
import type { StateRecord } from '#ports/records';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import { type ChannelHealth, createChannelHealth } from '#roles/channels/health';
import { createOutages, type Outages } from '#roles/dead-letters/outages';
import { loadDefinitions } from '#roles/definitions/load';
import { createScheduler, type Scheduler } from '#roles/scheduler/scheduler';
import { createSubmission, type Submit } from '#roles/submission/submission';
import type { Config } from './config.ts';
import { visibilityOf } from './visibility.ts';

/** The four ports and what every role needs beside them; one per process. */
export interface Ports {
  readonly store: Store;
  readonly queues: Queues;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Who signs the tokens that the API believes. */
  readonly issuer: Issuer;
  /** Signs list cursors. */
  readonly cursorKey: Uint8Array;
  /** Where something beside the system feeds the functions; else whoever does it looks at the channels' records himself. */
  readonly consumers?: Consumers | undefined;
  /** Removes what nobody needs any more, where the ports do not do so by themselves. */
  readonly tidy?: (() => Promise<void>) | undefined;
}

/** What the host may be told of. */
export interface SystemEvents {
  /** An order is held because nothing handles its fault (WF). */
  workflowTerminated: { readonly orderId: string; readonly record: StateRecord };
  /** A runtime service failed in what concerns one instance, or said so itself (WF: ServicesExceptionNotHandled). */
  servicesExceptionNotHandled: { readonly service: string; readonly orderId?: string; readonly error: unknown };
}

export type Emit = <E extends keyof SystemEvents>(event: E, detail: SystemEvents[E]) => void;

/** The roles on their ports: what every function is made from. */
export interface System extends Ports {
  readonly config: Config;
  readonly app: App;
  readonly definitions: Definitions;
  /** Names this process in claims and leases. */
  readonly hostId: string;
  readonly scheduler: Scheduler;
  readonly submit: Submit;
  readonly emit: Emit;
  /** Told of what becomes of messages. */
  readonly channelHealth: ChannelHealth;
  /** For how many milliseconds a message of this queue is invisible while a process works on it. */
  readonly visibilityMsOf: (queue: string) => number;
  /** What this process has met of them. */
  readonly outages: Outages;
}

/** Whoever starts often in one process may load the definitions once, and give them each time. */
export interface SystemOptions {
  readonly hostId: string;
  readonly emit?: Emit;
  readonly definitions?: Definitions;
}

export function createSystem(app: App, config: Config, ports: Ports, options: SystemOptions): System {
  const { hostId, emit = () => {}, definitions = loadDefinitions(app) } = options;
  const scheduler = createScheduler({
    ...ports,
    definitions,
    hostId,
    announceProcessed: config.announceProcessed,
    clockToleranceMs: config.clockToleranceMs,
    lockPolicy: config.lockPolicy,
    onTerminated: (orderId, record) => emit('workflowTerminated', { orderId, record }),
    onServiceException: (orderId, error) => emit('servicesExceptionNotHandled', { service: 'store', orderId, error }),
  });
  const { stepMs, maxFailures, longWaitMs, claimOnSubmit, defaultWorkflow } = config;
  const submit = createSubmission({
    store: ports.store,
    clock: ports.clock,
    scheduler,
    definitions,
    defaultWorkflow,
    claimOnSubmit,
    stepMs,
    maxFailures,
    forgets: config.retentionMs !== undefined,
    longWaitMs,
  });
  const channelHealth = createChannelHealth({ ...ports, documents: ports.store, policies: app.channels });
  const outages = createOutages(ports.clock);
  const visibilityMsOf = visibilityOf(app, config);
  return { ...ports, config, app, definitions, hostId, scheduler, submit, emit, channelHealth, outages, visibilityMsOf };
}

/** Different for every process, also for two that start at the same time. */
export const newHostId = (): string => `host-${randomBytes(6).toString('hex')}`;
