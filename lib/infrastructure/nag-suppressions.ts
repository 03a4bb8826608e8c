import { Stack, Token, Validations } from 'aws-cdk-lib';
import { RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { IConstruct } from 'constructs';
import { responseQueuePrefix } from '#ports/queues';
import type { OrderProcessing } from './order-processing.ts';

/** Acknowledges intended findings of cdk-nag, each at its one construct and with its reason. */
export function acknowledgeFindings(system: OrderProcessing): void {
  const { functions, entrance, users, cursorSecret, tracing } = system;
  const say = (at: IConstruct, id: string, reason: string): void => Validations.of(at).acknowledge({ id, reason });

  for (const { role, function: lambda, mappings, permissions, spec, consumerPolicies, inNetwork, alias } of functions.values()) {
    if (tracing)
      say(role, 'AwsSolutions::AwsSolutions-IAM5[Resource::*]', 'The two X-Ray actions do not support resource-level permissions.');
    else
      say(lambda, 'Serverless::Serverless-LambdaTracing', 'At low load, traces cost more than the runs. The `tracing` prop enables them.');
    if (inNetwork)
      say(
        role,
        'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
        "The actions with which Lambda creates network interfaces know no resource. A second statement denies them to the function's own code.",
      );
    if (permissions.answersClients)
      say(
        role,
        `AwsSolutions::AwsSolutions-IAM5[Resource::${shown(system, 'sqs', `${responseQueuePrefix}*`)}]`,
        `Clients own their response queues in this account and region, and an administrator registers them by name: ${responseQueuePrefix}*.`,
      );
    say(
      lambda,
      'Serverless::Serverless-LambdaDLQ',
      'A failed message returns to its queue and then goes to the dead-letter queue; a failed call returns to its caller. A failed run of the supervisor is not repeated, because the next run finds all due orders.',
    );
    if (spec.schedules.length > 0)
      say(
        lambda,
        'Serverless::Serverless-LambdaAsyncFailureDestination',
        'A failed start carries no information: the next run finds all due orders, and an alarm fires when no run succeeds.',
      );
    if (spec.schedules.length > 0 && alias)
      say(alias, 'Serverless::Serverless-LambdaAsyncFailureDestination', 'As for its function: the next run finds all due orders.');
    for (const policy of consumerPolicies)
      for (const resource of ['*', shown(system, 'lambda', 'event-source-mapping:*')])
        say(
          policy,
          `AwsSolutions::AwsSolutions-IAM5[Resource::${resource}]`,
          'Listing event source mappings does not support resource-level permissions; changing one is restricted by its function.',
        );
    for (const mapping of mappings)
      say(
        mapping,
        'Serverless::Serverless-LambdaEventSourceMappingDestination',
        'A function that SQS invokes cannot have an on-failure destination. Its queue has a dead-letter queue.',
      );
  }

  acknowledgeQueues(system, say);
  acknowledgeOptional(system, say);
  say(
    entrance,
    'AwsSolutions::AwsSolutions-APIG4',
    'The function verifies every token itself, also after the authorizer of API Gateway; /, /health and /openapi.json are public.',
  );
  say(
    cursorSecret,
    'AwsSolutions::AwsSolutions-SMG4',
    'It signs list cursors, which grant no access: the token alone decides who may see an order. docs/operations/runbook.md describes how to change it.',
  );
  if (users)
    say(
      users.pool,
      'AwsSolutions::AwsSolutions-COG8',
      'The plus plan costs five times as much for each operator. Every user must have a one-time password.',
    );
}

/** Acknowledges that the last queue of a chain has no dead-letter queue. */
function acknowledgeQueues({ queues, announcements }: OrderProcessing, say: Say): void {
  for (const name of queues.names.filter((name) => !queues.queue(name).deadLetterQueue)) {
    const reason = 'This is a dead-letter queue itself. An alarm and a person handle its messages.';
    say(queues.queue(name), 'AwsSolutions::AwsSolutions-SQS3', reason);
    say(queues.queue(name), 'Serverless::Serverless-SQSRedrivePolicy', reason);
  }
  for (const rule of ['AwsSolutions::AwsSolutions-SQS3', 'Serverless::Serverless-SQSRedrivePolicy'])
    say(
      announcements.undelivered,
      rule,
      'This queue holds the dead letters of the event bus, of its EventBridge rules and of the schedules.',
    );
}

type Say = (at: IConstruct, id: string, reason: string) => void;

/** Acknowledges the findings about the optional parts of a deployment. */
function acknowledgeOptional({ canary, backup, entrance }: OrderProcessing, say: Say): void {
  const ofAws = (role: IConstruct | undefined, policy: string): void => {
    const id = `AwsSolutions::AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/${policy}]`;
    if (role) say(role, id, 'AWS maintains this policy for its own service, which alone can assume the role.');
  };
  ofAws(canary?.role, 'AWSCodeDeployRoleForLambdaLimited');
  ofAws(backup?.role, 'AWSBackupServiceRolePolicyForBackup');
  if (!(entrance.api instanceof RestApi)) return;
  ofAws(entrance.api, 'AmazonAPIGatewayPushToCloudWatchLogs');
  say(entrance.api, 'AwsSolutions::AwsSolutions-APIG2', 'The function checks every request, so that each refusal is problem+json.');
  say(entrance.api, 'Serverless::Serverless-APIGWXrayEnabled', 'Traces begin in the function, as behind the HTTP API.');
  say(entrance.api, 'AwsSolutions::AwsSolutions-COG4', 'The function verifies every token itself: of the user pool, and of other issuers.');
}

/** Returns an ARN as findings show it, with deployment-time values in angle brackets. */
function shown(system: OrderProcessing, service: string, resource: string): string {
  const { region, account } = Stack.of(system);
  return `arn:<AWS::Partition>:${service}:${region}:${Token.isUnresolved(account) ? '<AWS::AccountId>' : account}:${resource}`;
}
