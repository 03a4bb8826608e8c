import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { DescribeEventBusCommand } from '@aws-sdk/client-eventbridge';
import { GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { indexes } from '#adapters/aws/dynamodb/table';
import { type AwsClients, type AwsConfig, openAws, readAwsConfig } from '#adapters/aws/open';
import { isLoopback } from '#api/loopback';
import { SetupError } from '#ports/errors';
import type { OpenPorts, OpenPortsOptions } from '#runtime/host/ports';
import { topologyOf } from '#runtime/topology';

/** Opens the deployed table, queues and bus at the addresses that the SDK finds. */
export async function openAwsPorts({ app, config, environment, clock }: OpenPortsOptions): Promise<OpenPorts> {
  const deployment = readAwsConfig(environment);
  const { store, queues, publisher, keys, auditLog, clients, close } = openAws(deployment, { clock, retentionMs: config.retentionMs });
  const at = addressesOf(clients);
  const wanted = topologyOf(app).flatMap(({ sources }) => sources.map(({ queue }) => queue));
  const missing = await missingOf(clients, deployment, wanted, at);
  if (missing.length > 0)
    throw new SetupError(
      `The deployment lacks: ${missing.join('; ')}.`,
      'Deploy the stack (npm run deploy:local, or npx cdk deploy), or correct REDRESS_TABLE, REDRESS_QUEUE_PREFIX and REDRESS_BUS.',
    );

  const { table, queuePrefix, bus } = deployment;
  return {
    store,
    queues,
    publisher,
    auditLog,
    keys,
    about: [
      ['store', `DynamoDB table ${table} at ${at.dynamodb()}`],
      ['channels', `SQS queues ${queuePrefix}* at ${at.sqs()}`],
      ['announcements', `EventBridge bus ${bus} at ${at.eventbridge()}`],
    ],
    isHere: [at.dynamodb(), at.sqs(), at.eventbridge()].every((address) => isLoopback(new URL(address).hostname)),
    // A table may already have orders and may be shared, so sample orders must not go there.
    isNew: false,
    remedy: 'Check that the table exists and that the credentials may use it, then start again.',
    close: async () => close(),
  };
}

type Addresses = { readonly [Service in keyof AwsClients]: () => string };

/** Returns the missing parts by name and address, with one call for the table, the bus and each queue. */
async function missingOf(clients: AwsClients, { table, queuePrefix, bus }: AwsConfig, wanted: readonly string[], at: Addresses) {
  const findQueue = (name: string) =>
    lookUp('SQS', at.sqs, () => clients.sqs.send(new GetQueueUrlCommand({ QueueName: queuePrefix + name })));
  const [description, foundBus, ...foundQueues] = await Promise.all([
    lookUp('DynamoDB', at.dynamodb, () => clients.dynamodb.send(new DescribeTableCommand({ TableName: table }))),
    lookUp('EventBridge', at.eventbridge, () => clients.eventbridge.send(new DescribeEventBusCommand({ Name: bus }))),
    ...wanted.map(findQueue),
  ]);
  const has = new Set(description?.Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName));
  const lacking = Object.values(indexes).filter(({ name }) => !has.has(name));
  const queuesMissing = wanted.filter((_, index) => !foundQueues[index]).map((name) => queuePrefix + name);
  return [
    ...(description ? [] : [`the table ${table} at ${at.dynamodb()}`]),
    ...(description && lacking.length > 0 ? [`the indexes ${lacking.map(({ name }) => name).join(', ')} of the table ${table}`] : []),
    ...(queuesMissing.length > 0 ? [`the queues ${shortened(queuesMissing)} at ${at.sqs()}`] : []),
    ...(foundBus ? [] : [`the bus ${bus} at ${at.eventbridge()}`]),
  ];
}

const namedMax = 4;
const shortened = (names: readonly string[]): string =>
  names.length <= namedMax ? names.join(', ') : `${names.slice(0, namedMax).join(', ')} and ${names.length - namedMax} more`;

const absences = new Set(['ResourceNotFoundException', 'QueueDoesNotExist']);

/** Returns the service's description of a resource, or undefined if it does not exist. */
async function lookUp<T>(service: string, at: () => string, ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const { name, message, code } = error as { name: string; message: string; code?: string };
    if (absences.has(name)) return undefined;
    const said = `${code ?? name}${message ? `: ${message.replaceAll(/\s+/g, ' ').replace(/\.$/, '')}` : ''}`;
    throw new SetupError(`Cannot use ${service} at ${at()} (${said}).`, remedyFor(name, code));
  }
}

function remedyFor(name: string, code: string | undefined): string {
  if (name === 'CredentialsProviderError')
    return 'Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (an emulator accepts any values).';
  if (code !== undefined || name === 'TimeoutError')
    return 'Start the service at this address, or correct AWS_REGION and AWS_ENDPOINT_URL.';
  return 'Check that the credentials are valid and have permission.';
}

/** Addresses of the services, as the SDK resolves them from variables, profiles and region; known after the first request. */
function addressesOf({ dynamodb, sqs, eventbridge }: AwsClients): Addresses {
  return { dynamodb: addressOf(dynamodb), sqs: addressOf(sqs), eventbridge: addressOf(eventbridge) };
}

type Next = (args: { readonly request: object }) => Promise<unknown>;
type MiddlewareStack = { add(middleware: (next: Next) => Next, options: { readonly step: 'build' }): void };

function addressOf({ middlewareStack }: { readonly middlewareStack: object }): () => string {
  let address = 'AWS';
  (middlewareStack as MiddlewareStack).add(
    (next) => (args) => {
      const { protocol, hostname, port } = args.request as { protocol: string; hostname: string; port?: number };
      address = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`;
      return next(args);
    },
    { step: 'build' },
  );
  return () => address;
}
