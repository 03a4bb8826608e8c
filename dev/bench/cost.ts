import type { Run } from '../../test/adapters/aws/invocations.ts';
import type { Deployment } from './deployment.ts';
import { priceOf } from './prices.ts';

/** Figures that neither an emulator nor a template shows. A vCPU of Lambda counts as one core of this machine. */
export const assumed = {
  /** MiB of Lambda memory per vCPU. */
  vCpuMiB: 1769,
  /** Latency between AWS services and a function in the same region, over open connections. */
  answerMs: {
    TransactWriteItems: 12,
    PutItem: 6,
    UpdateItem: 6,
    BatchGetItem: 5,
    SendMessageBatch: 10,
    PutEvents: 15,
  } as { readonly [operation: string]: number },
  /** The START, END and REPORT lines. */
  platformLogBytesPerRun: 300,
  accessLogBytesPerCall: 300,
  ordersPerMonth: 1_000_000,
  /** The time after which DynamoDB requests the key of a table again, for each caller. */
  tableKeySeconds: 300,
  /** Share of the runs that are traced, beyond the first run of each second. */
  tracedShare: 0.05,
  /** The receivers with which Lambda polls each queue. Each poll takes `pollSeconds`, and empty ones are billed, too. */
  pollersPerQueue: 5,
  pollSeconds: 20,
  /** Metrics of the one route of an HTTP API with detailed metrics. */
  routeMetrics: 6,
  supervisorLooksEverySeconds: 5,
} as const;

export const secondsPerMonth = 730 * 3600;

/** The total usage of some orders. */
export interface Usage {
  readonly orders: number;
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly queueRequests: number;
  readonly sends: number;
  readonly events: number;
  readonly runs: readonly Run[];
}

const memoryOf = ({ memoryMiB }: Deployment, { function: name }: Run): number => memoryMiB.get(name) ?? 0;

/**
 * Returns the billed duration of a run. The records of a batch are handled at the same time, so the run waits as long as one record does on
 * average: the latency of all its operations, divided by its records.
 */
export function billedMs(deployment: Deployment, run: Run): number {
  const waiting = sum(run.operations.map((operation) => assumed.answerMs[operation] ?? 0)) / run.records;
  return Math.ceil(run.cpuMs * (assumed.vCpuMiB / memoryOf(deployment, run)) + waiting);
}

/** Dollars for a million orders, by billed item. */
export function billOf(usage: Usage, deployment: Deployment, kmsRequestsPerMonth: number) {
  const { runs, orders } = usage;
  const each = (total: number): number => (total / orders) * 1_000_000;
  const calls = runs.filter(({ role }) => role === 'api');
  const gibSeconds = runs.map((run) => (billedMs(deployment, run) / 1000) * (memoryOf(deployment, run) / 1024));
  const logBytes = sum(runs.map((run) => run.logBytes + assumed.platformLogBytesPerRun)) + calls.length * assumed.accessLogBytesPerCall;
  const lines = {
    dynamoDbWrites: priceOf('dynamoDbWrite', each(usage.writeUnits)),
    dynamoDbReads: priceOf('dynamoDbRead', each(usage.readUnits)),
    sqs: priceOf('sqs', each(usage.queueRequests)),
    lambdaRequests: priceOf('lambdaRequest', each(runs.length)),
    lambdaTime: priceOf('lambdaArm', each(sum(gibSeconds))),
    httpApi: priceOf('httpApi', each(calls.length)),
    transferOut: priceOf('transferOut', each(sum(calls.map(({ answerBytes }) => answerBytes))) / 1e9),
    eventBridge: priceOf('eventBridge', each(usage.events)),
    logs: priceOf('logs', each(logBytes) / 1e9),
    kms: priceOf('kmsRequest', (kmsRequestsPerMonth / assumed.ordersPerMonth) * 1_000_000),
  };
  return { ...lines, total: sum(Object.values(lines)) };
}

/**
 * Returns the usage if each request that sends to SQS carried `batch` messages. The first message of each order stays alone: the call that
 * submits the order sends it.
 */
export const withSendsGathered = (usage: Usage, batch: number): Usage => {
  const { orders, sends, queueRequests } = usage;
  const gathered = orders + (sends - orders) / batch;
  return { ...usage, sends: gathered, queueRequests: queueRequests - sends + gathered };
};

/**
 * Counts the traces of X-Ray for a million evenly spread orders, if each run is a trace of its own: the first run of each
 * function in every second, and a share of the others.
 */
export function tracesOf({ runs, orders }: Usage, ordersPerSecond: number): number {
  const byFunction = Map.groupBy(runs, (run) => run.function);
  const perSecond = [...byFunction.values()].map((its) => (its.length / orders) * ordersPerSecond);
  return sum(perSecond.map((rate) => Math.min(rate, 1) + assumed.tracedShare * Math.max(0, rate - 1))) * (1_000_000 / ordersPerSecond);
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
