import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Context, SQSEvent } from 'aws-lambda';
import { awsCredentials, readCredentialPlaces } from '#adapters/aws/credentials';
import { openAws, readAwsConfig } from '#adapters/aws/open';
import type { Issuer } from '#api/authentication';
import { readIssuer } from '#api/configured-issuer';
import { readSignIn } from '#api/sign-in';
import type { App } from '#authoring/workflow';
import { isObject } from '#core/data/json';
import { systemClock } from '#ports/clock';
import type { Credentials } from '#ports/credentials';
import { queueOf } from '#ports/delivery';
import { createTelemetry, type LogFields, type Telemetry } from '#ports/telemetry';
import { recordDefinitions } from '#roles/definitions/recorded-definitions';
import { createAppServices } from './app-services.ts';
import { readConfig } from './config.ts';
import { environmentCredentials } from './credentials.ts';
import type { CreateFunction, Invocation } from './function.ts';
import { createSystem, newHostId } from './system.ts';
import { advancesOrders } from './topology.ts';

type Environment = { readonly [name: string]: string | undefined };

/** The content of one Lambda function: a file of `functions/` with the user's app. */
export interface LambdaOptions {
  readonly app: App;
  readonly create: CreateFunction;
  readonly environment: Environment;
  /** Prints the metrics of a run as one line, from which CloudWatch extracts them. */
  readonly print?: (line: string) => void;
}

const toLog = (line: string): void => void process.stdout.write(line);

export type LambdaHandler = (event: unknown, context: Pick<Context, 'getRemainingTimeInMillis' | 'awsRequestId'>) => Promise<unknown>;

/** Work stops this long before the run's timeout, so that the run can still report its results. */
const marginMs = 1000;

/**
 * Creates the Lambda handler of a function. The system is built from the environment once, during the cold start; the next event
 * retries a failed start.
 */
export function inLambda({ app, create, environment, print = toLog }: LambdaOptions): LambdaHandler {
  const prefix = readAwsConfig(environment).queuePrefix;
  let run: LogFields = {};
  const telemetry = createTelemetry({
    level: readConfig(environment).logLevel,
    role: environment['REDRESS_ROLE'] ?? 'lambda',
    deployment: prefix.replace(/-$/, ''),
    run: () => run,
  });
  let opened: ReturnType<typeof open> | undefined;

  const handler = async () => {
    try {
      return await (opened ??= open({ app, create, environment }, telemetry));
    } catch (error) {
      opened = undefined;
      throw error;
    }
  };
  handler().catch((error: unknown) => telemetry.log('error', 'function does not start', { error }));

  return async (event, { getRemainingTimeInMillis, awsRequestId }) => {
    // An instance of a Lambda function handles one event at a time.
    run = { awsRequestId, ...traceOf(environment) };
    const { handle, services } = await handler();
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(), Math.max(0, getRemainingTimeInMillis() - marginMs));
    try {
      return await handle(isQueueEvent(event) ? withPlainNames(event, prefix) : event, { stopping: ending.signal });
    } finally {
      // Lambda freezes unfinished work when a run ends, perhaps for hours.
      await services.settled();
      clearTimeout(timer);
      const metrics = telemetry.embeddedMetrics();
      if (metrics) print(`${JSON.stringify(metrics)}\n`);
    }
  };
}

async function open({ app, create, environment }: LambdaOptions, telemetry: Telemetry) {
  const config = readConfig(environment);
  const clock = systemClock;
  const opened = openAws(readAwsConfig(environment), { clock, retentionMs: config.retentionMs });
  const { store, queues, publisher, keys, consumers, auditLog } = opened;
  const ports = { store, queues, publisher, keys, consumers, auditLog, clock, telemetry };
  const issuer = readIssuer(environment) ?? noIssuer;
  const hostId = newHostId();
  const services = createAppServices({ app, hostId, role: environment['REDRESS_ROLE'] ?? 'lambda', ports });
  const cursorKey = await cursorKeyIn(environment);
  const stored = awsCredentials(readCredentialPlaces(environment['REDRESS_CREDENTIALS'] || '{}'), { clock, telemetry });
  await stored.prefetch();
  const plain = environmentCredentials(environment);
  const credentials: Credentials = { read: async (name) => (await stored.read(name)) ?? plain.read(name) };
  const system = createSystem(
    app,
    config,
    { ...ports, issuer, signIn: readSignIn(environment), cursorKey, credentials },
    { hostId, emit: services.emit },
  );
  // A cold start reads one record for each definition. It replaces no record: the search for unfinished orders of a changed version would
  // take too long (decision 21).
  if (advancesOrders(environment['REDRESS_ROLE'] ?? '')) await recordDefinitions(app.workflows, store, { mayReplace: false });
  const { warnings } = system.definitions;
  if (warnings.length > 0) telemetry.log('warn', 'workflows have warnings', { warnings });
  const given = Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  await services.start(system.submit);
  const handle = create({ system, environment: given, accepting: () => true }) as (event: unknown, invocation: Invocation) => unknown;
  return { handle, services };
}

/** Returns the id of the run's X-Ray trace, which Lambda puts into the environment. */
function traceOf(environment: Environment): LogFields {
  const [, traceId] = /Root=([^;]+)/.exec(environment['_X_AMZN_TRACE_ID'] ?? '') ?? [];
  return traceId === undefined ? {} : { traceId };
}

/** The issuer for functions that take no tokens: no token is valid for it. */
const noIssuer: Issuer = { issuer: 'none', audience: 'none', keys: { keys: [] } };

/** Reads the key with which all instances of the API sign list cursors. Other functions create no cursors and may not read this key. */
async function cursorKeyIn(environment: Environment): Promise<Uint8Array> {
  const SecretId = environment['REDRESS_CURSOR_SECRET'];
  if (!SecretId) return new Uint8Array(32);
  const client = new SecretsManagerClient({});
  const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId }));
  client.destroy();
  if (SecretString.length < 32)
    throw new Error(
      `The secret ${SecretId} is too short for the cursor key: expected at least 32 characters, got ${SecretString.length}. The runbook says how to change this key.`,
    );
  return Buffer.from(SecretString, 'utf8');
}

const isQueueEvent = (event: unknown): event is SQSEvent => isObject(event) && Array.isArray(event['Records']);

/** Removes the deployment's prefix from queue names. */
const withPlainNames = (event: SQSEvent, prefix: string): SQSEvent => ({
  Records: event.Records.map((record) => {
    const { eventSourceARN } = record;
    return { ...record, eventSourceARN: eventSourceARN.slice(0, eventSourceARN.lastIndexOf(':') + 1) + queueOf(record, prefix) };
  }),
});
