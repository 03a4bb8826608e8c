import { assumed, secondsPerMonth, sum } from './cost.ts';
import type { Deployment } from './deployment.ts';
import { priceOf } from './prices.ts';

const minutes = secondsPerMonth / 60;
const hours = secondsPerMonth / 3600;

export interface Idle {
  /** Read units of one pass that finds nothing due. */
  readonly readUnitsPerPass: number;
  /** The number of metrics that the bench has seen. A name that two roles use counts twice. */
  readonly metrics: number;
}

/** Dollars a month without any orders. */
export function fixedCosts({ memoryMiB, supervisorRunSeconds, count }: Deployment, { readUnitsPerPass, metrics }: Idle) {
  const passes = minutes * Math.ceil(supervisorRunSeconds / assumed.supervisorLooksEverySeconds);
  const lines = {
    supervisorTime: priceOf('lambdaArm', minutes * supervisorRunSeconds * ((memoryMiB.get('supervisor') ?? 0) / 1024)),
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

/** Dollars a month for keeping a million orders, in whatever state: their storage, its recovery, and the sweeps that read them. */
export function keepingCosts(bytesEach: number, sweepReadUnitsEach: number) {
  const gigabytes = (bytesEach * 1_000_000) / 1e9;
  return {
    storage: priceOf('dynamoDbStorage', gigabytes),
    recovery: priceOf('dynamoDbRecovery', gigabytes),
    hourlySweep: priceOf('dynamoDbRead', sweepReadUnitsEach * 1_000_000 * hours),
  };
}

/**
 * Requests to KMS in one month for the key of a queue that is never idle. In each period of reuse, a producer makes two and a consumer one
 * (SQS developer guide).
 */
const queueKeyRequests = (producers: number, consumers: number, reuseSeconds: number): number =>
  (secondsPerMonth / reuseSeconds) * (2 * producers + consumers);

/** Requests to KMS in a month in which no agent's queue is idle. */
export function keyRequests(agents: number, reuseSeconds: number): number {
  const tableCallers = ['api', 'scheduler', 'supervisor'].length;
  // The API sends the request of the first step, and the scheduler sends all others. Agents reply to the scheduler.
  const ofAgent = queueKeyRequests(2, 1, reuseSeconds) + queueKeyRequests(1, 1, reuseSeconds);
  return (secondsPerMonth / assumed.tableKeySeconds) * tableCallers + agents * ofAgent;
}
