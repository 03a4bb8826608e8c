import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  ApplicationLogLevel,
  Architecture,
  type Code,
  EventSourceMapping,
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
import type { OrderQueues } from './order-queues.ts';
import { announcesClosing, type Permissions } from './permissions.ts';
import { statementsOf } from './policy-statements.ts';

/** Optional settings of one function. */
export interface FunctionSettings {
  /** MiB; CPU grows with it. Default: 512, for the supervisor 256. */
  readonly memorySize?: number;
  /** Instances reserved for this function, and also its maximum: at least two for each queue. Default: none. */
  readonly reservedConcurrency?: number;
  /** Concurrent batches for each of its queues, 2 to 1000. Default: a share of 500, at most 50, or its share of the reserved instances. */
  readonly maxConcurrency?: number;
  /** Environment variables, such as the URL of an agent's service. */
  readonly environment?: { readonly [name: string]: string };
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
  /** ARN of the queues that clients may register, ending in `*`. */
  readonly responseQueueArns: string;
  readonly cursorSecret: Pick<ISecret, 'secretArn'>;
  readonly key: IKey;
  readonly logRetention: RetentionDays;
  /** The log group of the audit. */
  readonly auditLog: Pick<ILogGroup, 'logGroupArn' | 'logGroupName'>;
  readonly tracing: boolean;
}

const memoryDefault = 512;
/** The supervisor runs all the time, but mostly waits for I/O. */
const memoryOf: { readonly [file: string]: number } = { supervisor: 256 };
/** The minimum of Lambda. */
const concurrencyMin = 2;
const concurrencyMax = 50;
/** Half of the 1,000 instances that an account has by default, so that a backlog leaves the other half to the API and the supervisor. */
const concurrencyTotal = 500;

/** Returns the default concurrency of each queue of a function. Dead-letter queues are rarely used and need the minimum. */
export function maxConcurrencyFor({ file }: FunctionSpec, all: readonly FunctionSpec[]): number {
  if (file === 'dead-letter') return concurrencyMin;
  const queues = all.flatMap((spec) => (spec.file === 'dead-letter' ? [] : spec.sources));
  return Math.min(Math.max(Math.floor(concurrencyTotal / queues.length), concurrencyMin), concurrencyMax);
}

/** One function of the system with its own role. The role allows what `permissions.ts` lists, and what Lambda does in its name. */
export class SystemFunction extends Construct {
  readonly function: LambdaFunction;
  readonly spec: FunctionSpec;
  readonly permissions: Permissions;
  readonly role: Role;
  readonly mappings: readonly EventSourceMapping[];
  readonly consumerPolicies: Policy[] = [];

  constructor(scope: Construct, id: string, props: SystemFunctionProps) {
    super(scope, id);
    const { spec, settings, environment } = props;
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
    for (const statement of statementsOf(props, `${logGroup.logGroupArn}`)) this.role.addToPolicy(statement);
    const consumers = announcesClosing(props.permissions) ? { REDRESS_QUEUE_ARNS: props.queueArnPrefix } : {};
    const audits = props.permissions.writesAuditLog ? { REDRESS_AUDIT_LOG: props.auditLog.logGroupName } : {};
    const secretsKey = props.permissions.dayKeys === 'none' ? {} : { REDRESS_SECRETS_KEY: props.key.keyArn };
    this.function = new LambdaFunction(this, 'Function', {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: props.code,
      handler: 'index.handler',
      role: this.role,
      logGroup,
      // In plain text, Lambda would add three lines to each run. The program filters its own lines by LOG_LEVEL.
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: SystemLogLevel.WARN,
      applicationLogLevelV2: ApplicationLogLevel.TRACE,
      description: `Redress: ${spec.name}`,
      timeout: Duration.millis(spec.timeoutMs),
      memorySize: settings.memorySize ?? memoryOf[spec.file] ?? memoryDefault,
      // Lambda's loop detection would cut the chain scheduler, agent, scheduler after 16 hops.
      recursiveLoop: RecursiveLoop.ALLOW,
      tracing: props.tracing ? Tracing.ACTIVE : Tracing.DISABLED,
      environment: {
        ...environment,
        ...spec.environment,
        ...consumers,
        ...audits,
        ...secretsKey,
        REDRESS_ROLE: spec.name,
        ...settings.environment,
      },
      ...(settings.reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: settings.reservedConcurrency }),
    });
    const maxConcurrency = maxConcurrencyOf(props);
    this.mappings = spec.sources.map(({ queue, batchSize }) => {
      const mapping = new EventSourceMapping(this, `From-${queue}`, {
        target: this.function,
        eventSourceArn: props.queues.queue(queue).queueArn,
        batchSize,
        maxBatchingWindow: Duration.millis(queueFigures.windowMs),
        maxConcurrency,
        reportBatchItemFailures: true,
      });
      // Lambda checks on creation that the role may poll.
      mapping.node.addDependency(this.role);
      return mapping;
    });
    if (props.permissions.closesChannelOf.length > 0) this.maySwitchConsumers('OwnConsumers', [this]);
  }

  /** Allows this function to enable and disable the mappings of these functions. A separate policy, because the role exists before they do. */
  maySwitchConsumers(id: string, functions: readonly SystemFunction[]): void {
    const mappings = { service: 'lambda', resource: 'event-source-mapping', resourceName: '*', arnFormat: ArnFormat.COLON_RESOURCE_NAME };
    const policy = new Policy(this, id, {
      roles: [this.role],
      statements: [
        new PolicyStatement({ actions: ['lambda:ListEventSourceMappings'], resources: ['*'] }),
        new PolicyStatement({
          actions: ['lambda:UpdateEventSourceMapping'],
          resources: [Stack.of(this).formatArn(mappings)],
          conditions: { ArnEquals: { 'lambda:FunctionArn': functions.map((each) => each.function.functionArn) } },
        }),
      ],
    });
    this.consumerPolicies.push(policy);
  }
}

/**
 * Returns the maximum concurrency of each queue. Event sources ignore reserved concurrency: a batch beyond it is throttled, waits
 * for its visibility timeout, and becomes a dead letter after some deliveries.
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
