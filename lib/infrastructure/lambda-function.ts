import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Alias,
  ApplicationLogLevel,
  Architecture,
  type Code,
  EventSourceMapping,
  type IFunction,
  type IVersion,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { type ILogGroup, LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { SetupError } from '#ports/errors';
import { queueFigures, runs } from '#ports/limits';
import type { FunctionSpec } from '#runtime/topology';
import { concurrencyMin } from './concurrency.ts';
import { type AgentCredentials, credentialStatements, credentialsVariable } from './credentials.ts';
import type { OrderQueues } from './order-queues.ts';
import { announcesClosing, type Permissions } from './permissions.ts';
import { statementsOf } from './policy-statements.ts';
import { type FunctionNetwork, networkStatements } from './vpc.ts';

/** Optional settings of one function. */
export interface FunctionSettings {
  /** The memory in MiB; the share of a CPU grows with it. Default: 512, for the supervisor and the notifier 256. */
  readonly memorySize?: number;
  /** The instances that are reserved for this function, which are also its maximum: at least two for each queue. Default: none. */
  readonly reservedConcurrency?: number;
  /**
   * Concurrent batches for each of its queues, 2 to 1000. Default: a share of half the account's instances, at most 50, or its share of
   * `reservedConcurrency`.
   */
  readonly maxConcurrency?: number;
  /** Environment variables, such as the URL of an agent's service. */
  readonly environment?: { readonly [name: string]: string };
  /** Credentials for this function alone, in addition to `agentCredentials`. */
  readonly credentials?: AgentCredentials;
}

export interface SystemFunctionProps {
  readonly spec: FunctionSpec;
  readonly code: Code;
  readonly environment: { readonly [name: string]: string };
  readonly settings: FunctionSettings;
  readonly permissions: Permissions;
  /** Concurrent batches for each of its queues, unless its settings say otherwise. */
  readonly maxConcurrency: number;
  readonly queues: OrderQueues;
  /** The ARN of any queue, up to the queue's name. */
  readonly queueArnPrefix: string;
  readonly tableArn: string;
  readonly busArn: string;
  /** The topic of messages for people. */
  readonly topicArn: string;
  /** ARN of the queues that clients may register, ending in `*`. */
  readonly responseQueueArns: string;
  readonly cursorSecret: Pick<ISecret, 'secretArn'>;
  readonly key: IKey;
  readonly logRetention: RetentionDays;
  /** The log group of the audit. */
  readonly auditLog: Pick<ILogGroup, 'logGroupArn' | 'logGroupName'>;
  readonly tracing: boolean;
  readonly network: FunctionNetwork | undefined;
  readonly credentials: AgentCredentials;
  /** Whether callers use an alias, which a deployment moves from one version to the next. */
  readonly hasAlias: boolean;
}

const memoryDefault = 512;
/** The memory, in MiB, of functions that need less than the default: each run takes nearly a minute, but mostly waits for I/O. */
const memoryOf: { readonly [file: string]: number } = { supervisor: 256, notifier: 256 };
/** The name of the alias, which is also the end of its ARN. */
const aliasName = 'live';

/**
 * One function of the system with its own role. The role allows what `permissions.ts` lists, and what Lambda does in the function's name.
 */
export class SystemFunction extends Construct {
  readonly function: LambdaFunction;
  readonly spec: FunctionSpec;
  readonly permissions: Permissions;
  readonly role: Role;
  readonly mappings: readonly EventSourceMapping[];
  readonly alias: Alias | undefined;
  /** The function or its alias: gateways, schedules and queues start it. */
  readonly target: IFunction;
  readonly reservedConcurrency: number | undefined;
  readonly inNetwork: boolean;
  /** Concurrent batches for each of its queues. */
  readonly maxConcurrency: number;
  readonly consumerPolicies: Policy[] = [];

  constructor(scope: Construct, id: string, props: SystemFunctionProps) {
    super(scope, id);
    const { spec, settings } = props;
    this.spec = spec;
    this.permissions = props.permissions;
    if (spec.timeoutMs > runs.maxMs)
      throw new SetupError(
        `The function ${spec.name} needs ${spec.timeoutMs / 1000} s for its longest operation and the reply to it, but Lambda ends a run after ${runs.maxMs / 1000} s.`,
        'Reduce longestSeconds and completeWithinSeconds of that operation (or STEP_COMPLETE_WITHIN_SECONDS, if it sets none), or run this agent outside Lambda on the same queues with REDRESS_ADAPTERS=aws.',
      );
    const logGroup = new LogGroup(this, 'Log', {
      retention: props.logRetention,
      encryptionKey: props.key,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `${spec.name} of Redress`,
    });
    const extra = [...(props.network ? networkStatements() : []), ...credentialStatements(this, props.credentials)];
    for (const statement of [...statementsOf(props, `${logGroup.logGroupArn}`), ...extra]) this.role.addToPolicy(statement);
    this.function = new LambdaFunction(this, 'Function', {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: props.code,
      handler: 'index.handler',
      role: this.role,
      logGroup,
      // In plain text, Lambda would add three lines to each run. The function itself filters its lines by LOG_LEVEL.
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      applicationLogLevelV2: ApplicationLogLevel.TRACE,
      description: `Redress: ${spec.name}`,
      timeout: Duration.millis(spec.timeoutMs),
      memorySize: settings.memorySize ?? memoryOf[spec.file] ?? memoryDefault,
      // Lambda's loop detection would cut the chain scheduler, agent, scheduler after 16 hops.
      recursiveLoop: RecursiveLoop.ALLOW,
      tracing: props.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      environment: variablesOf(this, props),
      ...props.network,
      ...(settings.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: settings.reservedConcurrency }),
    });
    this.alias = props.hasAlias ? new Alias(this, 'Alias', { aliasName, version: this.function.currentVersion as IVersion }) : undefined;
    // The cast is needed because the CDK's own types differ in optional properties.
    this.target = (this.alias as IFunction | undefined) ?? this.function;
    this.reservedConcurrency = settings.reservedConcurrency;
    this.inNetwork = props.network !== undefined;
    this.maxConcurrency = maxConcurrencyOf(props);
    this.mappings = spec.sources.map(({ queue, batchSize }) => {
      const mapping = new EventSourceMapping(this, `From-${queue}`, {
        target: this.target,
        eventSourceArn: props.queues.queue(queue).queueArn,
        batchSize,
        maxBatchingWindow: Duration.millis(queueFigures.windowMs),
        maxConcurrency: this.maxConcurrency,
        reportBatchItemFailures: true,
      });
      // The role comes first: when a mapping is created, Lambda checks that the role may poll the queue.
      mapping.node.addDependency(this.role);
      return mapping;
    });
    if (props.permissions.closesChannelOf.length > 0) this.allowSwitchingConsumers('OwnConsumers', [this]);
  }

  /** The ARNs by which a mapping may name this function. */
  get arns(): readonly string[] {
    const { functionArn } = this.function;
    return this.alias ? [functionArn, `${functionArn}:${aliasName}`] : [functionArn];
  }

  /**
   * Allows this function to enable and disable the mappings of these functions. A separate policy, because the role exists before they do.
   */
  allowSwitchingConsumers(id: string, functions: readonly SystemFunction[]): void {
    const mappings = { service: 'lambda', resource: 'event-source-mapping', resourceName: '*', arnFormat: ArnFormat.COLON_RESOURCE_NAME };
    const policy = new Policy(this, id, {
      roles: [this.role],
      statements: [
        new PolicyStatement({ actions: ['lambda:ListEventSourceMappings'], resources: ['*'] }),
        new PolicyStatement({
          actions: ['lambda:UpdateEventSourceMapping'],
          resources: [Stack.of(this).formatArn(mappings)],
          conditions: { ArnEquals: { 'lambda:FunctionArn': functions.flatMap((each) => each.arns) } },
        }),
      ],
    });
    this.consumerPolicies.push(policy);
  }
}

function variablesOf(scope: Construct, props: SystemFunctionProps): { readonly [name: string]: string } {
  const { environment, spec, settings, permissions, credentials, queueArnPrefix, topicArn, auditLog, key } = props;
  return {
    ...environment,
    ...spec.environment,
    ...(announcesClosing(permissions) ? { REDRESS_QUEUE_ARNS: queueArnPrefix } : {}),
    ...(permissions.notifies ? { REDRESS_NOTIFY_TOPIC: topicArn } : {}),
    ...(permissions.writesAuditLog ? { REDRESS_AUDIT_LOG: auditLog.logGroupName } : {}),
    ...(permissions.dayKeys === 'none' ? {} : { REDRESS_SECRETS_KEY: key.keyArn }),
    ...credentialsVariable(scope, credentials),
    REDRESS_ROLE: spec.name,
    ...settings.environment,
  };
}

/**
 * Returns the maximum concurrency of each queue. Event sources ignore reserved concurrency: a batch beyond it is throttled, and waits for
 * its visibility timeout. Its messages become dead letters after too many deliveries.
 */
function maxConcurrencyOf({
  spec: { name, sources },
  settings: { reservedConcurrency, maxConcurrency },
  maxConcurrency: usual,
}: Pick<SystemFunctionProps, 'spec' | 'settings' | 'maxConcurrency'>): number {
  if (reservedConcurrency === undefined || sources.length === 0) return maxConcurrency ?? usual;
  const share = Math.floor(reservedConcurrency / sources.length);
  const each = maxConcurrency ?? Math.min(Math.max(share, concurrencyMin), usual);
  const wanted = each * sources.length;
  if (wanted <= reservedConcurrency) return each;
  throw new SetupError(
    `${name} consumes ${sources.length} queues with up to ${each} concurrent batches each: this needs ${wanted} instances, but reservedConcurrency is ${reservedConcurrency}.`,
    share < concurrencyMin
      ? `Set its reservedConcurrency to ${concurrencyMin * sources.length} or more, or omit it.`
      : `Set its maxConcurrency to ${share} or less, or its reservedConcurrency to ${wanted} or more.`,
  );
}
