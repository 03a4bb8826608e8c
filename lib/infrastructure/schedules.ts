import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { FunctionSpec, SupervisorTask } from '#runtime/topology';

/** How often the supervisor is started: within one run it looks again every few seconds (F-47). */
const runMs = 60_000;
/** What a run leaves of its minute for its last look. */
const lastLookMs = 3_000;

export interface ScheduleProps {
  readonly spec: FunctionSpec;
  readonly target: IFunction;
  readonly undelivered: IQueue;
  readonly startEvery: Duration;
  readonly sweepEvery: Duration;
}

/** A start that found nobody is kept for so long, by EventBridge as by Lambda; neither keeps it for less. */
const startedWithin = Duration.minutes(1);

/**
 * Starts a function by its schedules. A run that is missed is not made up for: the next one finds what is due. EventBridge only
 * hands the start over; Lambda would then keep one that is throttled for six hours, and repeat twice one that fails.
 */
export function startBySchedule(scope: Construct, { spec, target, undelivered, startEvery, sweepEvery }: ScheduleProps): readonly Rule[] {
  if (spec.schedules.length > 0) target.configureAsyncInvoke({ maxEventAge: startedWithin, retryAttempts: 0 });
  return spec.schedules.map(({ input, everyMs }) => {
    const every = everyMs === 'supervisor period' ? startEvery : sweepEvery;
    const event: SupervisorTask = everyMs === 'supervisor period' ? { ...input, repeatForMs: runMs - lastLookMs } : input;
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
