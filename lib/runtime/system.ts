import { randomBytes } from 'node:crypto';
import type { Issuer } from '#api/app';
import type { Chaos } from '#api/chaos';
import type { SignIn } from '#api/sign-in';
import type { App } from '#authoring/workflow';
import type { Json } from '#core/data/json';
import type { PeopleFor } from '#core/definition/people';
import { timedKey } from '#core/rules/timers';
import type { AuditLog } from '#ports/audit';
import type { Clock } from '#ports/clock';
import type { Consumers } from '#ports/consumers';
import type { Credentials } from '#ports/credentials';
import type { Definitions } from '#ports/definitions';
import type { Publisher } from '#ports/event-bus';
import type { Keys } from '#ports/keys';
import type { Queues } from '#ports/queues';
import type { OrderRecord, StateRecord } from '#ports/records';
import type { Sender } from '#ports/sender';
import type { Store } from '#ports/store';
import type { Telemetry } from '#ports/telemetry';
import type { Trouble } from '#roles/agent/trouble';
import { type ChannelHealth, createChannelHealth } from '#roles/channels/health';
import { createOutages, type Outages } from '#roles/dead-letters/outages';
import { loadDefinitions } from '#roles/definitions/load';
import { createPeopleFor } from '#roles/definitions/people-for';
import { createFinishedCounter } from '#roles/overview/finished-counter';
import { createRules, type Rules } from '#roles/rules/rules';
import { createRuleUse } from '#roles/rules/use';
import { outputWithoutSecrets } from '#roles/scheduler/redaction';
import { createScheduler, type Scheduler, type SchedulerRules } from '#roles/scheduler/scheduler';
import type { Loaded } from '#roles/scheduler/types';
import { type ClientRate, createClientRate } from '#roles/submission/client-rate';
import { createSubmission, type Submit } from '#roles/submission/submission';
import type { Config } from './config.ts';
import { environmentCredentials } from './credentials.ts';
import { visibilityOf } from './visibility.ts';

/** The ports of the roles, and what the roles need beside them; one per process. */
export interface Ports {
  readonly store: Store;
  readonly queues: Queues;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** The issuer whose tokens the API accepts. */
  readonly issuer: Issuer;
  /** The way in which people sign in to the console. */
  readonly signIn?: SignIn | undefined;
  /** The experiments, which inject faults. Only a host on the machine of its operator has them. */
  readonly chaos?: Chaos | undefined;
  /** The key that signs list cursors. */
  readonly cursorKey: Uint8Array;
  /** The keys that encrypt the secrets of orders. Absent: the secrets are stored in plain text. */
  readonly keys?: Keys | undefined;
  /** The event source mappings, on AWS. The local host reads the channels' records itself. */
  readonly consumers?: Consumers | undefined;
  /** The log of the audit; without one, its lines go to the log of the process. */
  readonly auditLog?: AuditLog | undefined;
  /** The credentials of agents. Default: variables and files of this process. */
  readonly credentials?: Credentials | undefined;
  /** Sends messages to people. Default: over HTTP, and to SNS. */
  readonly sender?: Sender | undefined;
  /** Removes expired data, if the ports do not do so themselves. */
  readonly tidy?: (() => Promise<void>) | undefined;
}

/** An order that is blocked or has ended. */
export interface OrderAtRest {
  readonly order: OrderRecord;
  readonly record: StateRecord;
  /** Returns the output of a completed order, without secrets; undefined if it has none. */
  readonly output: () => Json | undefined;
}

export type OnRest = (rest: OrderAtRest) => void;

/** Events of the system for the host. */
export interface SystemEvents {
  /** An order is blocked because its fault has no handler. */
  workflowTerminated: { readonly orderId: string; readonly record: StateRecord };
  /** A runtime service failed for one instance, or reported an exception (WF: ServicesExceptionNotHandled). */
  servicesExceptionNotHandled: { readonly service: string; readonly orderId?: string; readonly error: unknown };
  /** The code of an operation threw, gave no answer, or returned a value that does not fit its schema. `trouble` may quote secrets. */
  operationFailed: { readonly orderId: string; readonly trouble: Trouble };
}

export type Emit = <E extends keyof SystemEvents>(event: E, detail: SystemEvents[E]) => void;

/** The roles on their ports, from which every function is created. */
export interface System extends Ports {
  readonly credentials: Credentials;
  readonly config: Config;
  readonly app: App;
  readonly definitions: Definitions;
  /** Names this process in claims and leases. */
  readonly hostId: string;
  readonly scheduler: Scheduler;
  /** The rules as this process knows them, shared by all its roles. */
  readonly rules: Rules & SchedulerRules;
  /** Returns the people for whom the tasks of a workflow are. */
  readonly peopleFor: PeopleFor;
  /**
   * Returns a key that identifies the rules of a workflow about ages and late steps. The supervisor wakes each order whose deadlines were
   * planned with another key.
   */
  readonly ruleTimers: () => Promise<(workflow: string) => string | undefined>;
  readonly submit: Submit;
  /** Limits the submissions of each client, by API call and by message together. */
  readonly clientRate: ClientRate;
  readonly emit: Emit;
  /** Counts the outcomes of messages for each channel. */
  readonly channelHealth: ChannelHealth;
  /** The visibility timeout of a queue's messages, in milliseconds. */
  readonly visibilityMsOf: (queue: string) => number;
  /** The outages that this process has seen. */
  readonly outages: Outages;
}

/** Options of a system. A process that starts several systems can load the definitions once and pass them. */
export interface SystemOptions {
  readonly hostId: string;
  readonly emit?: Emit;
  /** Called for each order that a write of this process blocks or ends. */
  readonly onRest?: OnRest;
  readonly definitions?: Definitions;
}

export function createSystem(app: App, config: Config, ports: Ports, options: SystemOptions): System {
  const { hostId, emit = () => {}, onRest, definitions = loadDefinitions(app) } = options;
  const known = createRules({ store: ports.store, clock: ports.clock, definitions });
  const rules = { ...known, count: createRuleUse({ ...ports, rules: known, random: Math.random }) };
  const peopleFor = createPeopleFor(definitions.workflows, { dueSeconds: config.taskDueMs / 1000 });
  const scheduler = createScheduler({
    ...ports,
    rules,
    definitions,
    peopleFor,
    hostId,
    announceProcessed: config.announceProcessed,
    clockToleranceMs: config.clockToleranceMs,
    lockPolicy: config.lockPolicy,
    onTerminated: (orderId, record) => emit('workflowTerminated', { orderId, record }),
    ...(onRest ? { onRest: restOf(onRest) } : {}),
    // The counts of finished orders are read for the overview alone.
    ...(ports.store.addFinished && config.overviewPeriodMs !== undefined ? { finished: createFinishedCounter(ports) } : {}),
    onServiceException: (orderId, error) => emit('servicesExceptionNotHandled', { service: 'store', orderId, error }),
  });
  const { stepMs, maxFailures, longWaitMs, claimOnSubmit, defaultWorkflow } = config;
  const submit = createSubmission({
    store: ports.store,
    clock: ports.clock,
    keys: ports.keys,
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
  const clientRate = createClientRate(config.clientOrdersPerSecond, ports.clock);
  const visibilityMsOf = visibilityOf(app, config);
  const { credentials = environmentCredentials() } = ports;
  const made = {
    hostId,
    scheduler,
    rules,
    ruleTimers: timersOf(known),
    peopleFor,
    submit,
    clientRate,
    emit,
    channelHealth,
    outages,
    visibilityMsOf,
  };
  return { ...ports, credentials, config, app, definitions, ...made };
}

const timersOf =
  ({ current }: Pick<Rules, 'current'>): System['ruleTimers'] =>
  async () => {
    const set = await current();
    return (workflow) => timedKey(set, workflow);
  };

const restOf =
  (onRest: OnRest) =>
  (loaded: Loaded): void =>
    onRest({ order: loaded.order, record: loaded.record, output: () => outputWithoutSecrets(loaded) });

/** Returns a random id, different for every process. */
export const newHostId = (): string => `host-${randomBytes(6).toString('hex')}`;
