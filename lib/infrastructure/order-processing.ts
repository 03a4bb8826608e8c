import { ArnFormat, Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Key } from 'aws-cdk-lib/aws-kms';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { App } from '#authoring/workflow';
import { queueNames } from '#ports/messages';
import { responseQueuePrefix } from '#ports/queues';
import { readConfig } from '#runtime/config';
import { onlyWorkflowOf } from '#runtime/default-workflow';
import { type AgentGrouping, type FunctionSpec, topologyOf } from '#runtime/topology';
import { Alarms, type AlarmThresholds } from './alarms.ts';
import { type Bundle, bundle } from './bundle.ts';
import { orderDashboard } from './dashboard.ts';
import { encryptionKey } from './encryption.ts';
import { Announcements } from './event-bus.ts';
import { grantOperating, grantRedriving } from './grants.ts';
import { Entrance, type EntranceProps } from './http-api.ts';
import { type FunctionSettings, maxConcurrencyFor, SystemFunction } from './lambda-function.ts';
import { checkThatItLoads } from './load-check.ts';
import { OrderMetrics } from './metrics.ts';
import { acknowledgeFindings } from './nag-suppressions.ts';
import { checkNames } from './names.ts';
import { OrderQueues } from './order-queues.ts';
import { type OrderTableProps, orderTable } from './order-table.ts';
import { permissionsOf } from './permissions.ts';
import { startBySchedule } from './schedules.ts';
import { watchResources } from './stack-limits.ts';
import { watchSubscriptions } from './subscriptions.ts';
import { watchTemplate } from './template-limits/index.ts';
import { type AuthorizerSettings, checkedTokens, type ExternalIssuer, environmentOf, UserPoolIssuer } from './token-issuer.ts';

export interface OrderProcessingProps extends Pick<OrderTableProps, 'warmThroughput' | 'replicas'> {
  /** The workflows and agents: the default export of `entry`. */
  readonly app: App;
  /** Path of the module whose default export is `app`; it is bundled into each function. */
  readonly entry: string;
  /** The name of this deployment, unique in its account and region; queues are named `<name>-<queue>`. Default: `redress`. */
  readonly name?: string;
  /** The system's variables, as listed in `README.md`: `{ MAX_FAILURES: '5' }`. */
  readonly variables?: { readonly [name: string]: string };
  /** Settings by function name: `api`, `scheduler`, `agent-payment`. */
  readonly functions?: { readonly [name: string]: FunctionSettings };
  /** Environment variables of the agents' functions, such as the URLs of their services. */
  readonly agentEnvironment?: { readonly [name: string]: string };
  /** Whether each agent has a function of its own, or all have one together (F-36). Default: `each`. */
  readonly agents?: AgentGrouping;
  /** The issuer whose tokens the API accepts. Default: a new user pool. */
  readonly issuer?: ExternalIssuer;
  /**
   * The check of tokens by API Gateway, before they reach the function. `{}` enables it; another `issuer` needs RSA keys and a discovery
   * document. Default: none, because app clients that are registered later would not pass.
   */
  readonly authorizer?: AuthorizerSettings;
  /** A domain of your own for the API. Default: none. */
  readonly domain?: EntranceProps['domain'];
  /** Closes the address that API Gateway gives, so that only `domain` is left. Default: false. */
  readonly disableExecuteApiEndpoint?: boolean;
  /** Programs that submit orders; each gets an app client of the user pool. Default: none. */
  readonly clients?: readonly string[];
  /** The interval between runs of the supervisor, at least a minute. A run looks for late orders every few seconds (F-47). Default: a minute. */
  readonly supervisorEvery?: Duration;
  /** Thresholds that differ from those of the alarms; `false` creates no alarms. Default: none differs. */
  readonly alarms?: AlarmThresholds | false;
  /** The time after which finished orders are deleted. Default: never. */
  readonly retention?: Duration;
  /** The interval between scans of the whole table for orders that the index missed. A scan reads every item. Default: six hours. */
  readonly sweepEvery?: Duration;
  /** The time for which CloudWatch keeps the logs. Default: three months. */
  readonly logRetention?: RetentionDays;
  /** Enables X-Ray. At low load nearly every run is traced, which costs more than the runs. Default: false. */
  readonly tracing?: boolean;
  /** Limits of the API, in requests. Default: 1,000 a second, in bursts of 2,000. */
  readonly throttle?: EntranceProps['throttle'];
  /** Whether the table, the key, the audit and the user pool are kept when the stack is destroyed. Default: kept. */
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

  constructor(scope: Construct, id: string, props: OrderProcessingProps) {
    super(scope, id);
    const { app, name = 'redress', removalPolicy = RemovalPolicy.RETAIN, logRetention = RetentionDays.THREE_MONTHS } = props;
    checkNames({ name, clients: props.clients ?? [], hasUserPool: props.issuer === undefined });
    const kept = removalPolicy !== RemovalPolicy.DESTROY;
    const specs = topologyOf(app, { ...(props.agents ? { agents: props.agents } : {}), stepMs: stepMsIn(props.variables) });
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
    const transient = { key: this.key, removalPolicy: RemovalPolicy.DESTROY };
    this.queues = new OrderQueues(this, 'Queues', { functions: specs, prefix: this.queuePrefix, ...transient });
    this.announcements = new Announcements(this, 'Announcements', { name, ...transient });
    this.bus = this.announcements.bus;
    this.alerts = this.announcements.topic;
    this.users = props.issuer ? undefined : new UserPoolIssuer(this, 'Users', { name, removalPolicy, clients: props.clients ?? [] });
    this.responseQueueArns = Stack.of(this).formatArn({
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
    this.auditLog = new LogGroup(this, 'AuditLog', { retention: auditRetention, encryptionKey: this.key, removalPolicy });
    this.tracing = props.tracing ?? false;
    this.supervisorEvery = props.supervisorEvery ?? Duration.minutes(1);
    this.functions = this.#makeFunctions(props, specs, { name, logRetention });
    const closing = [...this.functions.values()].filter(({ permissions }) => permissions.closesChannelOf.length > 0);
    for (const each of this.functions.values()) if (each.permissions.switchesConsumers) each.maySwitchConsumers('Consumers', closing);
    this.entrance = this.#makeEntrance(props, { name, logRetention });
    this.url = this.entrance.url;
    for (const { spec, function: target } of this.functions.values())
      startBySchedule(this, {
        spec,
        target,
        undelivered: this.announcements.undelivered,
        startEvery: this.supervisorEvery,
        sweepEvery: props.sweepEvery ?? Duration.hours(6),
      });
    this.metrics = new OrderMetrics(this, name);
    // Rarer starts of the supervisor detect deadlines later by design, so the threshold follows them.
    const LateDetection = this.supervisorEvery.toMilliseconds();
    if (props.alarms !== false) new Alarms(this, 'Alarms', { system: this, name, thresholds: { LateDetection, ...props.alarms } });
    orderDashboard(this, { name });
    acknowledgeFindings(this);
    watchResources(this, app.agents.length);
    watchTemplate(this);
    watchSubscriptions(this);
  }

  #makeFunctions(props: OrderProcessingProps, specs: readonly FunctionSpec[], common: { name: string; logRetention: RetentionDays }) {
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
    const variablesOf: { readonly [file: string]: { readonly [name: string]: string } } = {
      api: { ...issuer, REDRESS_CURSOR_SECRET: this.cursorSecret.secretArn },
      agent: agentEnvironment,
    };
    const queueArnPrefix = Stack.of(this).formatArn({ service: 'sqs', resource: this.queuePrefix, arnFormat: ArnFormat.NO_RESOURCE_NAME });
    const bundles = new Map([...new Set(specs.map(({ file }) => file))].map((file) => [file, bundle(file, entry)]));
    const bundleOf = (file: string) => bundles.get(file) as Bundle;
    // All functions load the same app, but agents have further variables. So the scheduler's function is checked for those without an
    // agent's variables, and each agent's function for itself.
    for (const { file, name } of specs.filter(({ file: each }) => each === 'scheduler' || each === 'agent'))
      checkThatItLoads(bundleOf(file).folder, entry, { ...environment, ...variablesOf[file], ...settings[name]?.environment });
    return new Map(
      specs.map((spec) => [
        spec.name,
        new SystemFunction(this, `Function-${spec.name}`, {
          spec,
          code: bundleOf(spec.file).code,
          environment: { ...environment, ...variablesOf[spec.file] },
          settings: settings[spec.name] ?? {},
          permissions: permissionsOf(spec, app),
          maxConcurrency: maxConcurrencyFor(spec, specs),
          queueArnPrefix,
          queues: this.queues,
          tableArn: this.table.tableArn,
          busArn: this.bus.eventBusArn,
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
    { throttle = { rateLimit: 1000, burstLimit: 2000 }, issuer, authorizer, domain, disableExecuteApiEndpoint }: OrderProcessingProps,
    common: { name: string; logRetention: RetentionDays },
  ) {
    return new Entrance(this, 'Entrance', {
      ...common,
      handler: this.functionNamed('api').function,
      key: this.key,
      removalPolicy: RemovalPolicy.DESTROY,
      throttle,
      tokens: checkedTokens(this.users, issuer, authorizer),
      domain,
      disableExecuteApiEndpoint,
    });
  }

  functionNamed(name: string): SystemFunction {
    const found = this.functions.get(name);
    if (!found) throw new Error(`Unknown function ${name}; expected one of ${[...this.functions.keys()].join(', ')}.`);
    return found;
  }

  /** Allows a program to submit orders as messages. Also register its `SenderId` with the client for which it submits: `PUT /clients/{id}`. */
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

  /** Allows a role to redrive the dead-letter queues while the function `dead-letter` fails. It can read and send every message. */
  grantRedrive(grantee: IGrantable): Grant {
    return grantRedriving(this, grantee);
  }
}

/** 400 days, as for the entries in the table. */
const auditRetention = RetentionDays.THIRTEEN_MONTHS;

/** Reads the step timeout from the variables. Ignores values that only CloudFormation knows. */
function stepMsIn(variables: OrderProcessingProps['variables'] = {}): number {
  const known = Object.fromEntries(Object.entries(variables).filter(([, value]) => !Token.isUnresolved(value)));
  return readConfig({ REDRESS_ADAPTERS: 'aws', ...known }).stepMs;
}
