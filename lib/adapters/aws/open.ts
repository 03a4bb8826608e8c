import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { dynamoDbStore } from '#adapters/aws/dynamodb/store';
import type { AuditLog } from '#ports/audit';
import type { Clock } from '#ports/clock';
import type { Consumers } from '#ports/consumers';
import { SetupError } from '#ports/errors';
import type { Publisher } from '#ports/event-bus';
import type { Keys } from '#ports/keys';
import type { Queues } from '#ports/queues';
import type { Store } from '#ports/store';
import { cloudWatchAuditLog } from './audit-log.ts';
import { lambdaConsumers } from './event-source-mappings.ts';
import { eventBridgePublisher } from './eventbridge.ts';
import { kmsKeys } from './kms-keys.ts';
import { type Meter, meteredQueues, meteredStore } from './meter.ts';
import { sqsQueues } from './sqs/queues.ts';

/** Names of the deployed resources. The SDK itself reads endpoints (`AWS_ENDPOINT_URL*`) and credentials. */
export interface AwsConfig {
  readonly region: string;
  readonly table: string;
  /** The prefix of every queue's name: `redress-`. */
  readonly queuePrefix: string;
  readonly bus: string;
  /** The key of KMS that wraps the day keys. Absent: secrets are stored in plain text. */
  readonly secretsKey?: string;
  /** The prefix of every queue's ARN, if event source mappings of Lambda feed the functions. */
  readonly queueArns?: string;
  /** The log group of the audit. */
  readonly auditLogGroup?: string;
}

const name = (pattern: RegExp, what: string) => z.string({ error: 'it is missing' }).regex(pattern, what);

const Environment = z.object({
  AWS_REGION: name(/^[a-z]{2}(-[a-z]+)+-\d$/, 'expected a region such as eu-central-1'),
  REDRESS_TABLE: name(/^[A-Za-z0-9_.-]{3,255}$/, 'expected 3 to 255 letters, digits, _, . and -'),
  REDRESS_QUEUE_PREFIX: name(/^[A-Za-z0-9_-]{0,40}$/, 'expected at most 40 letters, digits, _ and -').default(''),
  REDRESS_BUS: name(/^[A-Za-z0-9_./-]{1,256}$/, 'expected 1 to 256 letters, digits, _, ., / and -'),
  REDRESS_SECRETS_KEY: name(/^[A-Za-z0-9:/_-]{1,2048}$/, 'expected the id or the ARN of a key of KMS').optional(),
  REDRESS_QUEUE_ARNS: name(
    /^arn:[a-z-]+:sqs:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{0,40}$/,
    'expected the common prefix of the queue ARNs',
  ).optional(),
  REDRESS_AUDIT_LOG: name(/^[A-Za-z0-9_./#-]{1,512}$/, 'expected the name of a log group').optional(),
});

/** @throws SetupError that names every invalid variable, and its valid values. */
export function readAwsConfig(environment: { readonly [name: string]: string | undefined }): AwsConfig {
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'];
  const given = { ...environment, AWS_REGION: region };
  const parsed = Environment.safeParse(
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '' && value !== undefined)),
  );
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`);
    throw new SetupError(`Invalid configuration for AWS: ${problems.join('; ')}.`, 'Set these variables to the outputs of the deployment.');
  }
  const { AWS_REGION, REDRESS_TABLE, REDRESS_QUEUE_PREFIX, REDRESS_BUS, ...others } = parsed.data;
  const { REDRESS_QUEUE_ARNS, REDRESS_AUDIT_LOG, REDRESS_SECRETS_KEY } = others;
  const names = { region: AWS_REGION, table: REDRESS_TABLE, queuePrefix: REDRESS_QUEUE_PREFIX, bus: REDRESS_BUS };
  return {
    ...names,
    ...(REDRESS_QUEUE_ARNS === undefined ? {} : { queueArns: REDRESS_QUEUE_ARNS }),
    ...(REDRESS_AUDIT_LOG === undefined ? {} : { auditLogGroup: REDRESS_AUDIT_LOG }),
    ...(REDRESS_SECRETS_KEY === undefined ? {} : { secretsKey: REDRESS_SECRETS_KEY }),
  };
}

/** Endpoints of a test's emulators, one for each service. */
export interface AwsEndpoints {
  readonly dynamodb: string;
  readonly sqs: string;
  readonly eventbridge: string;
  readonly lambda?: string;
  readonly logs?: string;
  readonly kms?: string;
}

export interface AwsOptions {
  readonly clock: Clock;
  readonly retentionMs?: number | undefined;
  /** Counts the requests to all services except for CloudWatch Logs, which gets the audit. */
  readonly meter?: Meter;
  readonly endpoints?: AwsEndpoints;
}

/** The ports on AWS, with the clients that they share. */
export interface Aws {
  readonly store: Store;
  readonly queues: Queues;
  readonly publisher: Publisher;
  /** Undefined if the deployment names no key. */
  readonly keys: Keys | undefined;
  /** Undefined if no event source mappings feed the functions. */
  readonly consumers: Consumers | undefined;
  /** Undefined if the process writes no audit. */
  readonly auditLog: AuditLog | undefined;
  readonly clients: AwsClients;
  close(): void;
}

export interface AwsClients {
  readonly dynamodb: DynamoDBClient;
  readonly sqs: SQSClient;
  readonly eventbridge: EventBridgeClient;
}

/** The time limit of a request, in milliseconds. A retry is harmless: writes of orders are conditional, and messages may arrive twice. */
const answerMs = 5000;
const connectMs = 2000;
const logTimes = { connectionTimeout: 1000, requestTimeout: 1500 };
/**
 * The most connections of a process to one service. The process polls all queues together, each agent's queue with up to twenty requests,
 * and must still be able to send.
 */
const socketsMax = 500;

interface Region {
  readonly region: string;
  readonly endpoints?: AwsEndpoints | undefined;
}

function settingsIn({ region, endpoints }: Region) {
  const agent = { keepAlive: true, maxSockets: socketsMax };
  const requestHandler = {
    connectionTimeout: connectMs,
    requestTimeout: answerMs,
    throwOnRequestTimeout: true,
    httpAgent: agent,
    httpsAgent: agent,
  };
  // In the mode `standard`, the SDK adds full jitter between attempts, and a retry budget.
  const settings = { region, requestHandler, retryMode: 'standard', maxAttempts: 4 } as const;
  return (service: keyof AwsEndpoints) => {
    const endpoint = endpoints?.[service];
    return endpoint === undefined ? settings : { ...settings, endpoint, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
  };
}

export function openClients(region: Region): AwsClients {
  const at = settingsIn(region);
  return {
    dynamodb: new DynamoDBClient(at('dynamodb')),
    sqs: new SQSClient({ ...at('sqs'), useQueueUrlAsEndpoint: false }),
    eventbridge: new EventBridgeClient(at('eventbridge')),
  };
}

/** Returns the keys that KMS wraps. The client of KMS is loaded at the first use: most functions never need it. */
function openKeys(region: Region, keyId: string, { store, clock, meter }: { store: Store; clock: Clock; meter: Meter | undefined }): Keys {
  let opened: ReturnType<typeof open> | undefined;
  const open = async () => {
    const { KMSClient } = await import('@aws-sdk/client-kms');
    const client = new KMSClient(settingsIn(region)('kms'));
    meter?.attach(client);
    return client;
  };
  return kmsKeys({ client: () => (opened ??= open()), keyId, documents: store, clock });
}

/** Loads the Lambda client when a channel is first closed or opened, which is rare. */
function openConsumers(region: Region, queueArns: string, meter: Meter | undefined): Consumers {
  let opened: ReturnType<typeof open> | undefined;
  const open = async () => {
    const { LambdaClient } = await import('@aws-sdk/client-lambda');
    const client = new LambdaClient(settingsIn(region)('lambda'));
    meter?.attach(client);
    return client;
  };
  return lambdaConsumers({ client: () => (opened ??= open()), queueArns });
}

/**
 * Loads the client of CloudWatch Logs when the first line of the audit is written. The client tries each call twice, with short time
 * limits, because a person waits for the call.
 */
function openAuditLog(region: Region, group: string): AuditLog {
  let opened: ReturnType<typeof open> | undefined;
  const open = async () => {
    const { CloudWatchLogsClient } = await import('@aws-sdk/client-cloudwatch-logs');
    const settings = settingsIn(region)('logs');
    return new CloudWatchLogsClient({ ...settings, maxAttempts: 2, requestHandler: { ...settings.requestHandler, ...logTimes } });
  };
  return cloudWatchAuditLog({ client: () => (opened ??= open()), group });
}

/** Opens the ports on AWS, from the names of the deployed resources. */
export function openAws(config: AwsConfig, { clock, retentionMs, meter, endpoints }: AwsOptions): Aws {
  const { region, table, queuePrefix, bus, queueArns, auditLogGroup, secretsKey } = config;
  const clients = openClients({ region, endpoints });
  if (meter) for (const client of Object.values(clients)) meter.attach(client);
  const store = dynamoDbStore({ client: DynamoDBDocumentClient.from(clients.dynamodb), table, clock, retentionMs });
  const queues = sqsQueues({ client: clients.sqs, prefix: queuePrefix, clock });
  return {
    store: meter ? meteredStore(store, meter) : store,
    queues: meter ? meteredQueues(queues, meter) : queues,
    publisher: eventBridgePublisher({ client: clients.eventbridge, bus }),
    keys: secretsKey === undefined ? undefined : openKeys({ region, endpoints }, secretsKey, { store, clock, meter }),
    consumers: queueArns === undefined ? undefined : openConsumers({ region, endpoints }, queueArns, meter),
    auditLog: auditLogGroup === undefined ? undefined : openAuditLog({ region, endpoints }, auditLogGroup),
    clients,
    close() {
      for (const client of Object.values(clients)) client.destroy();
    },
  };
}
