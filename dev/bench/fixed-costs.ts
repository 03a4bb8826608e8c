import { assumed, secondsPerMonth, sum } from './cost.ts';
import type { Deployment } from './deployment.ts';
import { priceOf } from './prices.ts';

const minutes = secondsPerMonth / 60;
const hours = secondsPerMonth / 3600;

export interface Idle {
  /** Of one pass that finds nothing due. */
  readonly readUnitsPerPass: number;
  /** Names of metrics by role that were seen in this run. */
  readonly metrics: number;
}

/** Dollars a month before the first order comes. */
export function fixedCosts({ memoryMiB, passingSeconds, count }: Deployment, { readUnitsPerPass, metrics }: Idle) {
  const passes = minutes * Math.ceil(passingSeconds / assumed.supervisorLooksEverySeconds);
  const lines = {
    supervisorTime: priceOf('lambdaArm', minutes * passingSeconds * ((memoryMiB.get('supervisor') ?? 0) / 1024)),
    supervisorRequests: priceOf('lambdaRequest', minutes),
    supervisorReads: priceOf('dynamoDbRead', passes * readUnitsPerPass),
    emptyReceives: priceOf(
      'sqs',
      count('AWS::Lambda::EventSourceMapping') * assumed.pollersPerQueue * (secondsPerMonth / assumed.pollSeconds),
    ),
    alarms: priceOf('alarm', count('AWS::CloudWatch::Alarm')),
    metrics: priceOf('metric', metrics + assumed.routeMetrics),
    dashboards: priceOf('dashboard', count('AWS::CloudWatch::Dashboard')),
    keys: priceOf('kmsKey', count('AWS::KMS::Key')),
    secrets: priceOf('secret', count('AWS::SecretsManager::Secret')),
  };
  return { ...lines, total: sum(Object.values(lines)) };
}

/** Dollars a month for a million orders that are kept, whatever becomes of them. */
export function keepingCosts(bytesEach: number, sweepReadUnitsEach: number) {
  const gigabytes = (bytesEach * 1_000_000) / 1e9;
  return {
    storage: priceOf('dynamoDbStorage', gigabytes),
    recovery: priceOf('dynamoDbRecovery', gigabytes),
    hourlySweep: priceOf('dynamoDbRead', sweepReadUnitsEach * 1_000_000 * hours),
  };
}

/** Of one month, for a queue that is never idle: producers ask twice, consumers once (SQS developer guide). */
const queueKeyRequests = (producers: number, consumers: number, reuseSeconds: number): number =>
  (secondsPerMonth / reuseSeconds) * (2 * producers + consumers);

/** Requests to KMS in a month in which no queue of the agents is idle. */
export function keyRequests(agents: number, reuseSeconds: number): number {
  const tableCallers = ['api', 'scheduler', 'supervisor'].length;
  // The api asks a first step's agent and the scheduler all others; agents answer the scheduler.
  const ofAgent = queueKeyRequests(2, 1, reuseSeconds) + queueKeyRequests(1, 1, reuseSeconds);
  return (secondsPerMonth / assumed.tableKeySeconds) * tableCallers + agents * ofAgent;
}
