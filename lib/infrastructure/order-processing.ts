import { ArnFormat, Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Key } from 'aws-cdk-lib/aws-kms';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { queueNames } from '#ports/messages';
import { responseQueuePrefix } from '#ports/queues';
import { readConfig } from '#runtime/config';
import { onlyWorkflowOf } from '#runtime/default-workflow';
import { type FunctionSpec, runsAppCode, topologyOf } from '#runtime/topology';
import { Alarms } from './alarms.ts';
import { TableBackup } from './backup.ts';
import { type Bundle, bundle, noBundle } from './bundle.ts';
import { Canary } from './canary.ts';
import { accountConcurrencyDefault, checkConcurrency, maxConcurrencyFor } from './concurrency.ts';
import { orderDashboard } from './dashboard.ts';
import { encryptionKey } from './encryption.ts';
import { Announcements } from './event-bus.ts';
import { grantOperating, grantRedriving } from './grants.ts';
import { Entrance } from './http-api.ts';
import { SystemFunction } from './lambda-function.ts';
import { checkThatItLoads } from './load-check.ts';
import { OrderMetrics } from './metrics.ts';
import { acknowledgeFindings } from './nag-suppressions.ts';
import { checkNames } from './names.ts';
import { credentialsFor, variablesOf } from './notifications.ts';
import type { OrderProcessingProps } from './order-processing-props.ts';
import { OrderQueues } from './order-queues.ts';
import { orderTable } from './order-table.ts';
import { permissionsOf } from './permissions.ts';
import { startByAnnouncement, startBySchedule } from './schedules.ts';
import { watchResources } from './stack-limits.ts';
import { watchSubscriptions } from './subscriptions.ts';
import { watchTemplate } from './template-limits/index.ts';
import { checkedTokens, environmentOf, UserPoolIssuer, type UserPoolIssuerProps } from './token-issuer.ts';
import { networkFor } from './vpc.ts';

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
  /** The topic of messages for people: one message for the first task of a kind, then summaries. */
  readonly notifications: ITopic;
  readonly key: Key;
  readonly metrics: OrderMetrics;
  /** The user pool; undefined with another issuer. */
  readonly users: UserPoolIssuer | undefined;
  /** The functions by name: `scheduler`, `agent-payment`. */
  readonly functions: ReadonlyMap<string, SystemFunction>;
  readonly queuePrefix: string;
  /** The ARN of any response queue of a client, with `*` after the prefix of the name. */
  readonly responseQueueArns: string;
  readonly cursorSecret: Secret;
  readonly tracing: boolean;
  readonly announcements: Announcements;
  /** The interval between runs of the supervisor. */
  readonly supervisorEvery: Duration;
  readonly entrance: Entrance;
  /** The log group of the audit, kept like the table. */
  readonly auditLog: LogGroup;
  /** The copies of the table; undefined without `backup`. */
  readonly backup: TableBackup | undefined;
  readonly canary: Canary | undefined;

  constructor(scope: Construct, id: string, props: OrderProcessingProps) {
    super(scope, id);
    const {
      app,
      name = 'redress',
      removalPolicy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      logRetention = RetentionDays.THREE_MONTHS,
    } = props;
    checkNames({ name, clients: props.clients ?? [], hasUserPool: props.issuer === undefined });
    const { deletionProtection = removalPolicy !== RemovalPolicy.DESTROY } = props;
    const specs = topologyOf(app, { ...(props.agents ? { agents: props.agents } : {}), stepMs: stepMsIn(props.variables) });
    this.queuePrefix = `${name}-`;
    this.key = encryptionKey(this, { name, removalPolicy });
    const { warmThroughput, replicas } = props;
    this.table = orderTable(this, {
      key: this.key,
      removalPolicy,
      deletionProtection,
      ...(warmThroughput ? { warmThroughput } : {}),
      ...(replicas ? { replicas } : {}),
    });
    const transient = { key: this.key, removalPolicy: RemovalPolicy.DESTROY };
    this.queues = new OrderQueues(this, 'Queues', { functions: specs, prefix: this.queuePrefix, ...transient });
    this.announcements = new Announcements(this, 'Announcements', { name, ...transient });
    this.bus = this.announcements.bus;
    this.alerts = this.announcements.topic;
    this.notifications = this.announcements.notifications;
    this.users = userPoolOf(this, props, { name, removalPolicy, deletionProtection, apiUrl: () => this.entrance.url });
    this.responseQueueArns = Stack.of(this).formatArn({
      service: 'sqs',
      resource: `${responseQueuePrefix}*`,
      arnFormat: ArnFormat.NO_RESOURCE_NAME,
    });
    this.cursorSecret = cursorSecret(this, this.key);
    this.auditLog = new LogGroup(this, 'AuditLog', { retention: auditRetention, encryptionKey: this.key, removalPolicy });
    this.tracing = props.tracing ?? false;
    this.supervisorEvery = props.supervisorEvery ?? Duration.minutes(1);
    this.functions = this.#makeFunctions(props, specs, { name, logRetention });
    const closing = [...this.functions.values()].filter(({ permissions }) => permissions.closesChannelOf.length > 0);
    for (const each of this.functions.values()) if (each.permissions.switchesConsumers) each.allowSwitchingConsumers('Consumers', closing);
    this.entrance = this.#makeEntrance(props, { name, logRetention });
    this.url = this.entrance.url;
    const { undelivered } = this.announcements;
    for (const { spec, target } of this.functions.values()) {
      const sweepEvery = props.sweepEvery ?? Duration.hours(6);
      startBySchedule(this, { spec, target, undelivered, startEvery: this.supervisorEvery, sweepEvery });
      startByAnnouncement(this, { spec, target, undelivered }, this.bus);
    }
    this.metrics = new OrderMetrics(this, name);
    // Rarer starts of the supervisor detect deadlines later by design, so the threshold follows them.
    const LateDetection = this.supervisorEvery.toMilliseconds();
    const alarms =
      props.alarms === false
        ? undefined
        : new Alarms(this, 'Alarms', { system: this, name, thresholds: { LateDetection, ...props.alarms } });
    this.canary = props.deployments === 'canary' ? new Canary(this, 'Canary', { functions: this.functions.values(), alarms }) : undefined;
    this.backup = props.backup
      ? new TableBackup(this, 'Backup', { ...props.backup, table: this.table, key: this.key, removalPolicy })
      : undefined;
    checkConcurrency(this, props.accountConcurrency ?? accountConcurrencyDefault);
    orderDashboard(this, { name });
    acknowledgeFindings(this);
    watchResources(this, app.agents.length);
    watchTemplate(this);
    watchSubscriptions(this);
  }

  #makeFunctions(props: OrderProcessingProps, specs: readonly FunctionSpec[], common: { name: string; logRetention: RetentionDays }) {
    const { app, entry, agentEnvironment = {}, functions: settings = {} } = props;
    const networkOf = networkFor(this, props.vpc);
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
    const ofFile: { readonly [file: string]: { readonly [name: string]: string } } = {
      api: { ...issuer, REDRESS_CURSOR_SECRET: this.cursorSecret.secretArn, ...variablesOf(props.notifications) },
      agent: agentEnvironment,
      consumer: agentEnvironment,
      notifier: variablesOf(props.notifications),
    };
    const queueArnPrefix = Stack.of(this).formatArn({ service: 'sqs', resource: this.queuePrefix, arnFormat: ArnFormat.NO_RESOURCE_NAME });
    // `cdk list` and `cdk destroy` need no code.
    const isBundled = Stack.of(this).bundlingRequired;
    const bundles = new Map(
      [...new Set(specs.map(({ file }) => file))].map((file) => [file, isBundled ? bundle(file, entry) : noBundle(file)]),
    );
    const bundleOf = (file: string) => bundles.get(file) as Bundle;
    // All functions load the same app, but those that run its code have further variables. So one check with the variables of the scheduler
    // covers the functions that run no app code. Each function that runs app code has its own check.
    for (const { file, name } of specs.filter((each) => isBundled && (each.file === 'scheduler' || runsAppCode(each))))
      checkThatItLoads(bundleOf(file).folder, entry, { ...environment, ...ofFile[file], ...settings[name]?.environment });
    return new Map(
      specs.map((spec) => [
        spec.name,
        new SystemFunction(this, `Function-${spec.name}`, {
          spec,
          code: bundleOf(spec.file).code,
          environment: { ...environment, ...ofFile[spec.file] },
          settings: settings[spec.name] ?? {},
          permissions: permissionsOf(spec, app),
          maxConcurrency: maxConcurrencyFor(spec, specs, props.accountConcurrency),
          network: networkOf(spec),
          credentials: credentialsFor(spec, props),
          hasAlias: props.deployments === 'canary',
          queueArnPrefix,
          queues: this.queues,
          tableArn: this.table.tableArn,
          busArn: this.bus.eventBusArn,
          topicArn: this.notifications.topicArn,
          responseQueueArns: this.responseQueueArns,
          cursorSecret: this.cursorSecret,
          key: this.key,
          logRetention: common.logRetention,
          auditLog: this.auditLog,
          tracing: this.tracing,
        }),
      ]),
    );
  }

  #makeEntrance(
    { throttle = { rateLimit: 1000, burstLimit: 2000 }, issuer, authorizer, ...props }: OrderProcessingProps,
    common: { name: string; logRetention: RetentionDays },
  ) {
    return new Entrance(this, 'Entrance', {
      ...common,
      handler: this.functionNamed('api').target,
      key: this.key,
      removalPolicy: RemovalPolicy.DESTROY,
      throttle,
      tokens: checkedTokens(this.users, issuer, authorizer),
      domain: props.domain,
      disableExecuteApiEndpoint: props.disableExecuteApiEndpoint,
      firewall: props.firewall,
    });
  }

  functionNamed(name: string): SystemFunction {
    const found = this.functions.get(name);
    if (!found) throw new Error(`Unknown function ${name}; expected one of ${[...this.functions.keys()].join(', ')}.`);
    return found;
  }

  /**
   * Allows a sender to submit orders as messages. Also register its `SenderId` with the client for which it submits: `PUT /clients/{id}`.
   */
  grantSubmit(grantee: IGrantable): Grant {
    return this.queues.queue(queueNames.submissions).grantSendMessages(grantee);
  }

  /**
   * Allows a role to subscribe to alerts, to read and delete undelivered alerts, and to read the depths of queues. Dead letters are not
   * included: the API shows, resubmits and discards them.
   */
  grantOperate(grantee: IGrantable): Grant {
    return grantOperating(this, grantee);
  }

  /** Allows a role to redrive the dead-letter queues while the function `dead-letter` fails. The role can read and send every message. */
  grantRedrive(grantee: IGrantable): Grant {
    return grantRedriving(this, grantee);
  }
}

/** Creates the user pool, unless the tokens come from another issuer. */
function userPoolOf(
  scope: Construct,
  { issuer, clients = [], signIn }: OrderProcessingProps,
  common: Pick<UserPoolIssuerProps, 'name' | 'removalPolicy' | 'deletionProtection' | 'apiUrl'>,
): UserPoolIssuer | undefined {
  return issuer ? undefined : new UserPoolIssuer(scope, 'Users', { ...common, clients, ...signIn });
}

const cursorSecret = (scope: Construct, encryptionKey: Key): Secret =>
  new Secret(scope, 'CursorKey', {
    description: 'Signs list cursors',
    encryptionKey,
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    removalPolicy: RemovalPolicy.DESTROY,
  });

/** 400 days, as for the entries in the table. */
const auditRetention = RetentionDays.THIRTEEN_MONTHS;

/** Reads the step timeout from the variables. Ignores values that only CloudFormation knows. */
function stepMsIn(variables: OrderProcessingProps['variables'] = {}): number {
  const known = Object.fromEntries(Object.entries(variables).filter(([, value]) => !Token.isUnresolved(value)));
  return readConfig({ REDRESS_ADAPTERS: 'aws', ...known }).stepMs;
}
