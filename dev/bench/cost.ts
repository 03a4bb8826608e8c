import type { Run } from '../../test/adapters/aws/invocations.ts';
import type { Deployment } from './deployment.ts';
import { priceOf } from './prices.ts';

/** What neither an emulator nor a template shows. A vCPU of Lambda is taken to be as fast as one core of this machine. */
export const assumed = {
  /** Of Lambda's memory, for each vCPU. */
  vCpuMiB: 1769,
  /** Of AWS to a function of its own region, over connections that are open. */
  answerMs: {
    TransactWriteItems: 12,
    PutItem: 6,
    UpdateItem: 6,
    BatchGetItem: 5,
    SendMessageBatch: 10,
    PutEvents: 15,
  } as { readonly [operation: string]: number },
  /** START, END and REPORT. */
  platformLogBytesPerRun: 300,
  accessLogBytesPerCall: 300,
  ordersPerMonth: 1_000_000,
  /** DynamoDB asks for a table's key once in so long for each caller. */
  tableKeySeconds: 300,
  /** Of the runs beyond the first of each second. */
  tracedShare: 0.05,
  /** Lambda waits at each queue with so many receivers, so long at a time; each time that they get nothing is billed. */
  pollersPerQueue: 5,
  pollSeconds: 20,
  /** An HTTP API with detailed metrics tells so many things of its one route. */
  routeMetrics: 6,
  supervisorLooksEverySeconds: 5,
} as const;

export const secondsPerMonth = 730 * 3600;

/** What some orders used together. */
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

/** A run waits for AWS as long as one of its records does: the others of a batch wait at the same time. */
export function billedMs(deployment: Deployment, run: Run): number {
  const waiting = sum(run.operations.map((operation) => assumed.answerMs[operation] ?? 0)) / run.records;
  return Math.ceil(run.cpuMs * (assumed.vCpuMiB / memoryOf(deployment, run)) + waiting);
}

/** Dollars for a million orders, by what is billed. */
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

/** An order's first request is sent by the call that submits it; all others could go with those of the same run. */
export const withSendsGathered = (usage: Usage, batch: number): Usage => {
  const { orders, sends, queueRequests } = usage;
  const gathered = orders + (sends - orders) / batch;
  return { ...usage, sends: gathered, queueRequests: queueRequests - sends + gathered };
};

/**
 * Traces that X-Ray records of a million orders that come evenly, if each run is a trace of its own: of each function
 * the first run of every second, and a share of the others.
 */
export function tracesOf({ runs, orders }: Usage, ordersPerSecond: number): number {
  const byFunction = Map.groupBy(runs, (run) => run.function);
  const perSecond = [...byFunction.values()].map((its) => (its.length / orders) * ordersPerSecond);
  return sum(perSecond.map((rate) => Math.min(rate, 1) + assumed.tracedShare * Math.max(0, rate - 1))) * (1_000_000 / ordersPerSecond);
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
