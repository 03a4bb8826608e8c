import { Stack, Token, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { responseQueuePrefix } from '#ports/queues';
import type { OrderProcessing } from './order-processing.ts';

/** Findings of cdk-nag that are meant to be so, each at the one place where it is, with its reason. */
export function acknowledgeFindings(system: OrderProcessing): void {
  const { jobs, queues, announcements, entrance, users, cursorSecret, tracing } = system;
  const say = (at: IConstruct, id: string, reason: string): void => Validations.of(at).acknowledge({ id, reason });

  for (const { role, function: job, mappings, permissions, spec, valvePolicies } of jobs.values()) {
    if (tracing)
      say(role, 'AwsSolutions::AwsSolutions-IAM5[Resource::*]', 'X-Ray takes traces from anywhere: its two actions know no resources.');
    else
      say(job, 'Serverless::Serverless-LambdaTracing', 'Traces cost more than the runs where there is little to do: a prop turns them on.');
    if (permissions.answersClients)
      say(
        role,
        `AwsSolutions::AwsSolutions-IAM5[Resource::${shown(system, 'sqs', `${responseQueuePrefix}*`)}]`,
        `Clients bring their own queues, in this account and region, and an administrator registers them by name: ${responseQueuePrefix}*.`,
      );
    say(
      job,
      'Serverless::Serverless-LambdaDLQ',
      'What fails goes back to its queue and from there to its dead letters, or to the caller; a run of the supervisor is not made up for: the next one finds what is due.',
    );
    if (spec.schedules.length > 0)
      say(
        job,
        'Serverless::Serverless-LambdaAsyncFailureDestination',
        'A start that is given up tells nobody anything: the next one finds what is due, and an alarm speaks when there is none.',
      );
    for (const policy of valvePolicies)
      for (const resource of ['*', shown(system, 'lambda', 'event-source-mapping:*')])
        say(
          policy,
          `AwsSolutions::AwsSolutions-IAM5[Resource::${resource}]`,
          'To list event source mappings knows no resources; to change one is allowed by the function that it feeds.',
        );
    for (const mapping of mappings)
      say(
        mapping,
        'Serverless::Serverless-LambdaEventSourceMappingDestination',
        'Event sources on SQS have no such destination: the queue has dead letters.',
      );
  }

  for (const name of queues.names.filter((name) => !queues.queue(name).deadLetterQueue)) {
    say(queues.queue(name), 'AwsSolutions::AwsSolutions-SQS3', 'Here is where messages end, and a person or an alarm takes over.');
    say(queues.queue(name), 'Serverless::Serverless-SQSRedrivePolicy', 'Here is where messages end, and a person or an alarm takes over.');
  }
  for (const rule of ['AwsSolutions::AwsSolutions-SQS3', 'Serverless::Serverless-SQSRedrivePolicy'])
    say(announcements.undelivered, rule, 'It is the dead-letter queue of the bus, its rules and its schedules.');

  say(
    entrance,
    'AwsSolutions::AwsSolutions-APIG4',
    'The function checks every token itself, here as on one machine, so that a refusal is problem+json too; /health and /openapi.json are for anyone.',
  );
  say(
    cursorSecret,
    'AwsSolutions::AwsSolutions-SMG4',
    'It signs positions in lists, which grant nothing: who may see an order is decided by his token alone. docs/runbook.md says how to change it.',
  );
  if (users)
    say(
      users.pool,
      'AwsSolutions::AwsSolutions-COG8',
      'The plus plan costs five times as much for each operator; a one-time password is required of everybody.',
    );
}

/** An ARN as a finding shows it: what is known only at deployment stands in angle brackets. */
function shown(system: OrderProcessing, service: string, resource: string): string {
  const { region, account } = Stack.of(system);
  return `arn:<AWS::Partition>:${service}:${region}:${Token.isUnresolved(account) ? '<AWS::AccountId>' : account}:${resource}`;
}
