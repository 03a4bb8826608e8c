import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { indexes } from '#adapters/aws/dynamodb/table';
import { isDeadLetterQueue } from '#ports/messages';
import { runsAppCode } from '#runtime/topology';
import type { OrderProcessing } from './order-processing.ts';

/** The subject of one alarm: a queue, a function, or the whole system. */
export interface Watched {
  /** The id among the alarms of its kind. */
  readonly id: string;
  /** The beginning of the alarm's description, such as `The queue payment-requests`. */
  readonly what: string;
  readonly metric: IMetric;
  /** The threshold of this subject, in place of the kind's. */
  readonly threshold?: number;
}

/** One kind of alarm, with its subjects and threshold. An article of `docs/operations/runbook.md` has the same name. */
export interface AlarmKind {
  /** The rest of the alarm's description: what happened, and the first action. */
  readonly says: string;
  /** The alarm fires above this value; with `below`, below it. */
  readonly threshold: number;
  readonly below?: boolean;
  /** The number of consecutive periods for which the metric must be beyond the threshold before the alarm fires. */
  readonly periods: number;
  readonly watched: (system: OrderProcessing) => readonly Watched[];
}

const minute = { period: Duration.minutes(1) };
const fiveMinutes = { period: Duration.minutes(5) };
const total: MetricOptions = { ...fiveMinutes, statistic: 'Sum' };

const system = (what: string, metric: IMetric): readonly Watched[] => [{ id: 'system', what, metric }];
const eachFunction = (
  { functions }: OrderProcessing,
  metricOf: (each: OrderProcessing['functions'] extends ReadonlyMap<string, infer J> ? J : never) => IMetric,
) => [...functions].map(([name, each]) => ({ id: name, what: `The function ${name}`, metric: metricOf(each) }));
const eachQueue = ({ queues: all }: OrderProcessing, isMeant: (name: string) => boolean, metric: 'age' | 'depth') =>
  all.names.filter(isMeant).map((name) => {
    const queue = all.queue(name);
    return {
      id: name,
      what: `The queue ${name}`,
      metric: metric === 'age' ? queue.metricApproximateAgeOfOldestMessage(minute) : queue.metricApproximateNumberOfMessagesVisible(minute),
    };
  });

/** Returns the sum of metrics, of which some may have no data. */
const sumOf = (usingMetrics: { readonly [id: string]: IMetric }): IMetric =>
  new MathExpression({ ...fiveMinutes, expression: 'SUM(METRICS())', usingMetrics: { ...usingMetrics } });

/** The share of the account's concurrent executions that are in use, in percent. */
const shareOfQuota = new MathExpression({
  ...fiveMinutes,
  expression: 'used / SERVICE_QUOTA(used) * 100',
  usingMetrics: {
    used: new Metric({
      ...fiveMinutes,
      namespace: 'AWS/Usage',
      metricName: 'ResourceCount',
      dimensionsMap: { Service: 'Lambda', Type: 'Resource', Resource: 'ConcurrentExecutions', Class: 'None' },
      statistic: 'Maximum',
    }),
  },
});

/** The operations of the table that the functions use. Each has its own metric of errors. */
const tableOperations = ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'Scan', 'TransactWriteItems', 'UpdateItem'];

/** All alarm kinds by name. Each name is the heading of an article in `docs/operations/runbook.md`. */
export const alarmKinds = {
  MessageDeadLettered: {
    says: 'keeps a message as a dead letter, because nobody could process it. Resubmit or discard it.',
    threshold: 0,
    periods: 1,
    watched: (all) => system('The function dead-letter', all.metrics.counted('messageDeadLettered', 'dead-letter', total)),
  },
  DeadLettersNotRead: {
    says: 'has held messages for 15 minutes, and the dead-letter function has not read them. Check that this function runs.',
    threshold: 0,
    periods: 15,
    watched: (all) => eachQueue(all, isDeadLetterQueue, 'depth'),
  },
  QueueBackedUp: {
    says: 'has a message older than five minutes. Check that its function runs and is not too slow.',
    threshold: 300,
    periods: 5,
    watched: (all) => eachQueue(all, (name) => !isDeadLetterQueue(name), 'age'),
  },
  FunctionFails: {
    says: 'fails. Read its log; if a deployment caused it, roll back.',
    threshold: 0,
    periods: 1,
    watched: (all) => eachFunction(all, ({ function: lambda }) => lambda.metricErrors(total)),
  },
  FunctionThrottled: {
    says: 'is throttled: it needs more instances than it may have. Reserve concurrency, or raise the quota.',
    threshold: 0,
    periods: 3,
    watched: (all) => eachFunction(all, ({ function: lambda }) => lambda.metricThrottles(total)),
  },
  FunctionNearItsTime: {
    says: 'runs for nearly as long as its timeout. Find out whether its service or the table is slow.',
    threshold: 25_000,
    periods: 3,
    // Two functions are left out: the supervisor uses its whole minute by design, and a bulk run all the time that its function has.
    watched: (all) =>
      eachFunction(all, ({ function: lambda }) => lambda.metricDuration({ ...fiveMinutes, statistic: 'p99' }))
        .filter(({ id }) => id !== 'supervisor' && id !== 'bulk')
        .map((watched) => ({ ...watched, threshold: 0.9 * all.functionNamed(watched.id).spec.timeoutMs })),
  },
  SupervisorSilent: {
    says: 'has not looked for overdue orders for ten minutes, or for two intervals of its schedule if these are longer: late orders do not recover. Check its schedule and its log.',
    threshold: 1,
    below: true,
    periods: 2,
    // If the supervisor starts less often than every five minutes, the metric's period is the interval of its starts. So each period has a
    // pass.
    watched: (all) =>
      system(
        'The supervisor',
        all.metrics.counted('supervisorPass', 'supervisor', {
          ...total,
          period: Duration.minutes(Math.max(5, Math.ceil(all.supervisorEvery.toMinutes({ integral: false })))),
        }),
      ),
  },
  ServiceAway: {
    says: 'has not reached its remote service for ten minutes: orders that need it wait. Check the service and the network.',
    threshold: 0,
    periods: 2,
    watched: (all) =>
      eachFunction(all, ({ spec }) => all.metrics.counted('serviceAway', spec.name, total)).filter(({ id }) =>
        runsAppCode(all.functionNamed(id).spec),
      ),
  },
  ChannelClosed: {
    says: 'reports a closed channel: orders that need it wait. Correct the cause, then open the channel.',
    threshold: 0,
    periods: 1,
    watched: (all) => system('The supervisor', all.metrics.counted('channelClosed', 'supervisor', total)),
  },
  LateDetection: {
    says: 'detects deadlines more than a minute late. Check the number of overdue orders and the table.',
    threshold: 60_000,
    periods: 3,
    watched: (all) => system('The supervisor', all.metrics.detectionDelay(fiveMinutes)),
  },
  AlertsUndelivered: {
    says: 'could not be delivered to the operators. Read it from the queue of undelivered alerts, and repair the topic.',
    threshold: 0,
    periods: 1,
    watched: ({ announcements }) => [
      ...system('An alert', announcements.undelivered.metricApproximateNumberOfMessagesVisible(minute)),
      { id: 'topic', what: 'A notification of the topic', metric: announcements.topic.metricNumberOfNotificationsFailed(total) },
    ],
  },
  ApiFails: {
    says: 'answers with 5xx. Read the log of its function, then check the table and the token issuer.',
    threshold: 0,
    periods: 3,
    watched: ({ entrance }) => system('The API', entrance.api.metricServerError(total)),
  },
  ApiSlow: {
    says: 'takes more than three seconds for one call in a hundred. Check cold starts and the table.',
    threshold: 3000,
    periods: 3,
    watched: ({ entrance }) => system('The API', entrance.api.metricLatency({ ...fiveMinutes, statistic: 'p99' })),
  },
  CallersRefused: {
    says: 'refuses many calls for their token or role. Find out whether a client has a wrong token, or somebody guesses tokens.',
    threshold: 50,
    periods: 2,
    watched: ({ metrics }) =>
      system(
        'The API',
        sumOf({ unauthorized: metrics.counted('http401', 'api', total), forbidden: metrics.counted('http403', 'api', total) }),
      ),
  },
  AuditLogFails: {
    says: 'cannot be written. Its lines are in the log of the function that made them. Check the log group and its key.',
    threshold: 0,
    periods: 1,
    watched: ({ metrics }) =>
      system(
        'The log of the audit',
        sumOf({ api: metrics.counted('auditLogFailed', 'api', total), sweeper: metrics.counted('auditLogFailed', 'sweeper', total) }),
      ),
  },
  ConcurrencyNearQuota: {
    says: 'use more than four fifths of the instances that the account may have in this region. Raise the quota, or lower maxConcurrency.',
    threshold: 80,
    periods: 3,
    watched: () => system('The functions of the account', shareOfQuota),
  },
  TableThrottled: {
    says: 'is throttled: it refuses requests. Check for a sudden load, and raise its throughput.',
    threshold: 0,
    periods: 3,
    watched: ({ table }) =>
      ['Read', 'Write'].map((kind) => ({
        id: kind.toLowerCase(),
        what: `The table, for ${kind.toLowerCase()} requests,`,
        metric: sumOf(
          Object.fromEntries([
            ['table', table.metric(`${kind}ThrottleEvents`, total)],
            ...Object.values(indexes).map(({ name }, index) => [
              `index${index}`,
              table.metric(`${kind}ThrottleEvents`, {
                ...total,
                dimensionsMap: { TableName: table.tableName, GlobalSecondaryIndexName: name },
              }),
            ]),
          ]),
        ),
      })),
  },
  TableFails: {
    says: 'answers with internal errors. Check the AWS Health Dashboard and the encryption key.',
    threshold: 0,
    periods: 3,
    watched: ({ table }) =>
      system(
        'The table',
        sumOf(
          Object.fromEntries(
            tableOperations.map((Operation) => [
              Operation.charAt(0).toLowerCase() + Operation.slice(1),
              table.metric('SystemErrors', { ...total, dimensionsMap: { TableName: table.tableName, Operation } }),
            ]),
          ),
        ),
      ),
  },
} as const satisfies { readonly [name: string]: AlarmKind };
