import { Duration } from 'aws-cdk-lib';
import { type EventBus, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { eventSource } from '#adapters/aws/eventbridge';
import type { FunctionSpec } from '#runtime/topology';

/** The length of one run of the supervisor or the notifier, which makes a pass every few seconds (F-47). */
const runMs = 60_000;
/** The end of the minute, reserved for the last pass. */
const lastPassMs = 3_000;

export interface ScheduleProps {
  readonly spec: FunctionSpec;
  readonly target: IFunction;
  readonly undelivered: IQueue;
  readonly startEvery: Duration;
  readonly sweepEvery: Duration;
}

/** The time for which EventBridge and Lambda keep an undelivered start: the shortest that both allow. */
const startedWithin = Duration.minutes(1);

/**
 * Creates the schedules of a function. A missed run is not repeated, because the next run finds all due orders. By default, Lambda would
 * keep a throttled start for six hours and retry a failed one twice.
 */
export function startBySchedule(scope: Construct, { spec, target, undelivered, startEvery, sweepEvery }: ScheduleProps): readonly Rule[] {
  if (spec.schedules.length > 0) target.configureAsyncInvoke({ maxEventAge: startedWithin, retryAttempts: 0 });
  return spec.schedules.map(({ input, everyMs }) => {
    const every = everyMs === 'supervisor period' ? startEvery : sweepEvery;
    const event = everyMs === 'supervisor period' ? { ...input, repeatForMs: runMs - lastPassMs } : input;
    return new Rule(scope, `Every-${spec.name}`, {
      description: `Starts the ${spec.name} of Redress`,
      schedule: Schedule.rate(every),
      targets: [
        new LambdaFunction(target, {
          event: RuleTargetInput.fromObject(event),
          deadLetterQueue: undelivered,
          retryAttempts: 1,
          maxEventAge: startedWithin,
        }),
      ],
    });
  });
}

/** Creates the rule that starts a function at an announcement. If a start is lost, the next one by its schedule does the work. */
export function startByAnnouncement(
  scope: Construct,
  { spec, target, undelivered }: Pick<ScheduleProps, 'spec' | 'target' | 'undelivered'>,
  eventBus: EventBus,
): readonly Rule[] {
  return spec.schedules.flatMap(({ input }) =>
    spec.startedBy === undefined
      ? []
      : [
          new Rule(scope, `Announced-${spec.name}`, {
            description: `Starts the ${spec.name} of Redress when it is announced`,
            eventBus,
            eventPattern: { source: [eventSource], detailType: [spec.startedBy] },
            targets: [
              new LambdaFunction(target, {
                event: RuleTargetInput.fromObject(input),
                deadLetterQueue: undelivered,
                retryAttempts: 1,
                maxEventAge: startedWithin,
              }),
            ],
          }),
        ],
  );
}
