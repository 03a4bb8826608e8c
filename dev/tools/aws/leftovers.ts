import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, ListEventBusesCommand, ListRulesCommand } from '@aws-sdk/client-eventbridge';
import { LambdaClient, ListEventSourceMappingsCommand, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { ListSecretsCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ListTopicsCommand, SNSClient } from '@aws-sdk/client-sns';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';

/** The resources on an emulator after a stack was destroyed, by name. `others` were not meant to stay. */
export interface Leftovers {
  readonly tables: readonly string[];
  readonly others: readonly string[];
}

export async function leftovers(endpoint: string): Promise<Leftovers> {
  const at = { endpoint, region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
  const [dynamodb, events, lambda, secrets, sns, sqs] = [
    new DynamoDBClient(at),
    new EventBridgeClient(at),
    new LambdaClient(at),
    new SecretsManagerClient(at),
    new SNSClient(at),
    new SQSClient(at),
  ] as const;
  const { TableNames = [] } = await dynamodb.send(new ListTablesCommand({}));
  const { EventBuses = [] } = await events.send(new ListEventBusesCommand({}));
  const { Rules = [] } = await events.send(new ListRulesCommand({}));
  const { Functions = [] } = await lambda.send(new ListFunctionsCommand({}));
  const { EventSourceMappings = [] } = await lambda.send(new ListEventSourceMappingsCommand({}));
  const { SecretList = [] } = await secrets.send(new ListSecretsCommand({}));
  const { Topics = [] } = await sns.send(new ListTopicsCommand({}));
  const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
  const others = [
    ...EventBuses.filter(({ Name }) => Name !== 'default').map(({ Name }) => `bus ${Name}`),
    ...Rules.map(({ Name }) => `rule ${Name}`),
    ...Functions.map(({ FunctionName }) => `function ${FunctionName}`),
    ...EventSourceMappings.map(({ EventSourceArn }) => `event source ${EventSourceArn}`),
    ...SecretList.filter(({ DeletedDate }) => !DeletedDate).map(({ Name }) => `secret ${Name}`),
    ...Topics.map(({ TopicArn }) => `topic ${TopicArn}`),
    ...QueueUrls.map((url) => `queue ${url}`),
  ];
  return { tables: TableNames, others };
}
