import { ArnFormat, Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Key } from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { App } from '#authoring/workflow';
import { queueNames } from '#ports/messages';
import { responseQueuePrefix } from '#ports/queues';
import { readConfig } from '#runtime/config';
import { onlyWorkflowOf } from '#runtime/default-workflow';
import { type Cut, topologyOf } from '#runtime/topology';
import { Alarms, type AlarmThresholds } from './alarms.ts';
import { type Bundle, bundle } from './bundle.ts';
import { orderDashboard } from './dashboard.ts';
import { encryptionKey } from './encryption.ts';
import { Announcements } from './event-bus.ts';
import { Entrance, type EntranceProps } from './http-api.ts';
import { Job, type JobSettings } from './lambda-function.ts';
import { checkThatItLoads } from './load-check.ts';
import { OrderMetrics } from './metrics.ts';
import { acknowledgeFindings } from './nag-suppressions.ts';
import { checkNames } from './names.ts';
import { OrderQueues } from './order-queues.ts';
import { type OrderTableProps, orderTable } from './order-table.ts';
import { permissionsOf } from './permissions.ts';
import { startBySchedule } from './schedules.ts';
import { watchResources } from './stack-limits.ts';
import { type ExternalIssuer, environmentOf, UserPoolIssuer } from './token-issuer.ts';

export interface OrderProcessingProps extends Pick<OrderTableProps, 'warmThroughput' | 'replicas'> {
  /** The workflows and agents: the default export of `entry`. */
  readonly app: App;
  /** Path of the module whose default export is `app`; it is bundled into each function. */
  readonly entry: string;
  /** The name of this deployment, unique in its account and region (`redress`); queues are named `<name>-<queue>`. */
  readonly name?: string;
  /** The system's variables, as listed in `README.md`: `{ MAX_FAILURES: '5' }`. */
  readonly variables?: { readonly [name: string]: string };
  /** Settings by function name: `api`, `scheduler`, `agent-payment`. */
  readonly functions?: { readonly [name: string]: JobSettings };
  /** Environment variables of the agents' functions, such as the URLs of their services. */
  readonly agentEnvironment?: { readonly [name: string]: string };
  /** One function for each agent (default), or one for all agents (F-36). */
  readonly agents?: Cut['agents'];
  /** The issuer whose tokens the API accepts (default: a new user pool). */
  readonly issuer?: ExternalIssuer;
  /** Programs that submit orders; each gets an app client of the user pool. */
  readonly clients?: readonly string[];
  /** The interval between starts of the supervisor, at least a minute (default); within each run it makes a pass every few seconds (F-47). */
  readonly supervisorEvery?: Duration;
  /** Thresholds that differ from the defaults; `false` creates no alarms. */
  readonly alarms?: AlarmThresholds | false;
  /** The time after which finished orders are deleted (never). */
  readonly retention?: Duration;
  /** The interval between scans of the whole table for orders that the index missed (six hours). A scan reads every item. */
  readonly sweepEvery?: Duration;
  readonly logRetention?: RetentionDays;
  /** Enables X-Ray (off). At low load nearly every run is traced, which costs more than the runs. */
  readonly tracing?: boolean;
  readonly throttle?: EntranceProps['throttle'];
  /** Whether the table, the key and the user pool are kept when the stack is destroyed (kept). */
  readonly removalPolicy?: RemovalPolicy;
}

/**
 * The whole system: takes orders at `url`, runs each to a defined end, and alerts operators on `alerts`.
 *
 * ```ts
 * new OrderProcessing(this, 'Orders', { app, entry: 'app.ts', agentEnvironment: { PAYMENT_URL: 'https://…' } });
 * ```
 *
 * @throws SetupError when the app does not exist or does not load, a name or a variable is invalid, or a setting exceeds a limit of Lambda.
 */
export class OrderProcessing extends Construct {
  /** The URL of the API. */
  readonly url: string;
  readonly table: TableV2;
  readonly bus: EventBus;
  readonly queues: OrderQueues;
  /** The topic `operator-alerts` with the announcements that a person must see. */
  readonly alerts: ITopic;
  readonly key: Key;
  readonly metrics: OrderMetrics;
  /** The user pool; undefined with another issuer. */
  readonly users: UserPoolIssuer | undefined;
  /** The functions by name: `scheduler`, `agent-payment`. */
  readonly jobs: ReadonlyMap<string, Job>;
  readonly queuePrefix: string;
  /** ARN pattern of the clients' response queues, which share a name prefix. */
  readonly responseQueues: string;
  readonly cursorSecret: Secret;
  readonly tracing: boolean;
  readonly announcements: Announcements;
  readonly entrance: Entrance;

  constructor(scope: Construct, id: string, props: OrderProcessingProps) {
    super(scope, id);
    const { app, name = 'redress', removalPolicy = RemovalPolicy.RETAIN, logRetention = RetentionDays.THREE_MONTHS } = props;
    checkNames({ name, clients: props.clients ?? [], hasUserPool: props.issuer === undefined });
    const kept = removalPolicy !== RemovalPolicy.DESTROY;
    const functions = topologyOf(app, { ...(props.agents ? { agents: props.agents } : {}), stepMs: stepMsIn(props.variables) });
    this.queuePrefix = `${name}-`;
    this.key = encryptionKey(this, { name, removalPolicy });
    const { warmThroughput, replicas } = props;
    this.table = orderTable(this, {
      key: this.key,
      removalPolicy,
      deletionProtection: kept,
      ...(warmThroughput ? { warmThroughput } : {}),
      ...(replicas ? { replicas } : {}),
    });
    const passing = { key: this.key, removalPolicy: RemovalPolicy.DESTROY };
    this.queues = new OrderQueues(this, 'Queues', { functions, prefix: this.queuePrefix, ...passing });
    this.announcements = new Announcements(this, 'Announcements', { name, ...passing });
    this.bus = this.announcements.bus;
    this.alerts = this.announcements.topic;
    this.users = props.issuer ? undefined : new UserPoolIssuer(this, 'Users', { name, removalPolicy, clients: props.clients ?? [] });
    this.responseQueues = Stack.of(this).formatArn({
      service: 'sqs',
      resource: `${responseQueuePrefix}*`,
      arnFormat: ArnFormat.NO_RESOURCE_NAME,
    });
    this.cursorSecret = new Secret(this, 'CursorKey', {
      description: 'Signs list cursors',
      encryptionKey: this.key,
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.tracing = props.tracing ?? false;
    this.jobs = this.#makeJobs(props, functions, { name, logRetention });
    const closing = [...this.jobs.values()].filter(({ permissions }) => permissions.closes.length > 0);
    for (const job of this.jobs.values()) if (job.permissions.keepsChannels) job.maySetValves('Valves', closing);
    this.entrance = this.#makeEntrance(props, { name, logRetention });
    this.url = this.entrance.url;
    for (const { spec, function: target } of this.jobs.values())
      startBySchedule(this, {
        spec,
        target,
        undelivered: this.announcements.undelivered,
        startEvery: props.supervisorEvery ?? Duration.minutes(1),
        sweepEvery: props.sweepEvery ?? Duration.hours(6),
      });
    this.metrics = new OrderMetrics(this);
    // Rarer starts of the supervisor detect deadlines later by design, so the threshold follows them.
    const LateDetection = props.supervisorEvery?.toMilliseconds() ?? 60_000;
    if (props.alarms !== false) new Alarms(this, 'Alarms', { system: this, name, thresholds: { LateDetection, ...props.alarms } });
    orderDashboard(this, { name });
    acknowledgeFindings(this);
    watchResources(this, app.agents.length);
  }

  #makeJobs(props: OrderProcessingProps, functions: ReturnType<typeof topologyOf>, common: { name: string; logRetention: RetentionDays }) {
    const { app, entry, agentEnvironment = {}, functions: settings = {} } = props;
    const issuer = props.issuer ? environmentOf(props.issuer) : (this.users?.environment ?? {});
    const environment = {
      REDRESS_ADAPTERS: 'aws',
      REDRESS_TABLE: this.table.tableName,
      REDRESS_BUS: this.bus.eventBusName,
      REDRESS_QUEUE_PREFIX: this.queuePrefix,
      DEFAULT_WORKFLOW: onlyWorkflowOf(app) ?? '',
      ...(props.retention ? { RETENTION_DAYS: String(props.retention.toDays()) } : {}),
      ...props.variables,
    };
    const ofRole: { readonly [file: string]: { readonly [name: string]: string } } = {
      api: { ...issuer, REDRESS_CURSOR_SECRET: this.cursorSecret.secretArn },
      agent: agentEnvironment,
    };
    const queueArns = Stack.of(this).formatArn({ service: 'sqs', resource: this.queuePrefix, arnFormat: ArnFormat.NO_RESOURCE_NAME });
    const bundles = new Map([...new Set(functions.map(({ file }) => file))].map((file) => [file, bundle(file, entry)]));
    const bundleOf = (file: string) => bundles.get(file) as Bundle;
    // All functions load the same app, so two checks are enough: one with the agents' variables and one without.
    for (const { file, name } of functions.filter(({ file: each }) => each === 'scheduler' || each === 'agent'))
      checkThatItLoads(bundleOf(file).folder, entry, { ...environment, ...ofRole[file], ...settings[name]?.environment });
    return new Map(
      functions.map((spec) => [
        spec.name,
        new Job(this, `Function-${spec.name}`, {
          spec,
          code: bundleOf(spec.file).code,
          environment: { ...environment, ...ofRole[spec.file] },
          settings: settings[spec.name] ?? {},
          permissions: permissionsOf(spec, app),
          queueArns,
          queues: this.queues,
          tableArn: this.table.tableArn,
          busArn: this.bus.eventBusArn,
          responseQueues: this.responseQueues,
          cursorSecret: this.cursorSecret,
          key: this.key,
          logRetention: common.logRetention,
          tracing: this.tracing,
        }),
      ]),
    );
  }

  #makeEntrance(
    { throttle = { rateLimit: 1000, burstLimit: 2000 } }: OrderProcessingProps,
    common: { name: string; logRetention: RetentionDays },
  ) {
    return new Entrance(this, 'Entrance', {
      ...common,
      handler: this.job('api').function,
      key: this.key,
      removalPolicy: RemovalPolicy.DESTROY,
      throttle,
    });
  }

  job(name: string): Job {
    const job = this.jobs.get(name);
    if (!job) throw new Error(`Unknown function ${name}; expected one of ${[...this.jobs.keys()].join(', ')}.`);
    return job;
  }

  /** Allows a program to submit orders as messages. It must also be registered as a sender of its client: `PUT /clients/{id}`. */
  grantSubmit(grantee: IGrantable): Grant {
    return this.queues.queue(queueNames.submissions).grantSendMessages(grantee);
  }

  /** Allows a role to subscribe to alerts, and to read, delete and redrive dead letters and undelivered alerts. */
  grantOperate(grantee: IGrantable): Grant {
    const dead = this.queues.names.filter((name) => name.endsWith('-dead'));
    const others = this.queues.names.filter((name) => !dead.includes(name));
    const arnsOf = (names: readonly string[]) => names.map((name) => this.queues.queue(name).queueArn);
    const allow = (resourceArns: string[], ...actions: string[]) => Grant.addToPrincipal({ grantee, actions, resourceArns });
    const keptArns = [...arnsOf(dead), this.announcements.undelivered.queueArn];
    this.key.grant(grantee, 'kms:Decrypt', 'kms:GenerateDataKey');
    return allow(keptArns, 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:ReceiveMessage')
      .combine(allow(arnsOf(dead), 'sqs:CancelMessageMoveTask', 'sqs:ListMessageMoveTasks', 'sqs:StartMessageMoveTask'))
      .combine(allow(arnsOf(others), 'sqs:GetQueueUrl', 'sqs:SendMessage'))
      .combine(allow([this.alerts.topicArn], 'sns:Subscribe'));
  }
}

/** Reads the step timeout from the variables. Ignores values that only CloudFormation knows. */
function stepMsIn(variables: OrderProcessingProps['variables'] = {}): number {
  const known = Object.fromEntries(Object.entries(variables).filter(([, value]) => !Token.isUnresolved(value)));
  return readConfig({ REDRESS_ADAPTERS: 'aws', ...known }).stepMs;
}
