import { Duration } from 'aws-cdk-lib';
import type { IMetric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { OrderProcessing } from './order-processing.ts';

/** Something that an alarm looks at: a queue, a function, or the whole system. */
export interface Watched {
  /** Tells it from the others of its kind. */
  readonly id: string;
  /** Begins the alarm's sentence. */
  readonly what: string;
  readonly metric: IMetric;
  /** Its own, where the kind's does not fit. */
  readonly threshold?: number;
}

/** One kind of alarm: what it looks at, and when it speaks. Its article in `docs/runbook.md` has the same name. */
export interface AlarmKind {
  /** Ends the alarm's sentence. */
  readonly says: string;
  /** Speaks above it; or below it, where silence itself is the trouble. */
  readonly threshold: number;
  readonly below?: boolean;
  /** Periods of the metric in a row. */
  readonly periods: number;
  readonly watched: (system: OrderProcessing) => readonly Watched[];
}

const minute = { period: Duration.minutes(1) };
const fiveMinutes = { period: Duration.minutes(5) };
const total: MetricOptions = { ...fiveMinutes, statistic: 'Sum' };

const system = (what: string, metric: IMetric): readonly Watched[] => [{ id: 'system', what, metric }];
const eachJob = (
  { jobs }: OrderProcessing,
  metricOf: (job: OrderProcessing['jobs'] extends ReadonlyMap<string, infer J> ? J : never) => IMetric,
) => [...jobs].map(([name, job]) => ({ id: name, what: `The function ${name}`, metric: metricOf(job) }));
const eachQueue = ({ queues: all }: OrderProcessing, isMeant: (name: string) => boolean, metric: 'age' | 'depth') =>
  all.names.filter(isMeant).map((name) => {
    const queue = all.queue(name);
    return {
      id: name,
      what: `The queue ${name}`,
      metric: metric === 'age' ? queue.metricApproximateAgeOfOldestMessage(minute) : queue.metricApproximateNumberOfMessagesVisible(minute),
    };
  });

const isDead = (name: string): boolean => name.endsWith('-dead');

/** By name. The names stand in `docs/runbook.md`, each over what to do. */
export const alarmKinds = {
  MessageDeadLettered: {
    says: 'has kept a message that cannot be processed as a dead letter.',
    threshold: 0,
    periods: 1,
    watched: (all) => system('The function dead-letter', all.metrics.counted('messageDeadLettered', 'dead-letter', total)),
  },
  DeadLettersNotRead: {
    says: 'holds messages that were given up, or delivered too often, and that the dead-letter function has not kept.',
    threshold: 0,
    periods: 15,
    watched: (all) => eachQueue(all, isDead, 'depth'),
  },
  QueueBackedUp: {
    says: 'has a message that waits for more than five minutes.',
    threshold: 300,
    periods: 5,
    watched: (all) => eachQueue(all, (name) => !isDead(name), 'age'),
  },
  FunctionFails: {
    says: 'fails.',
    threshold: 0,
    periods: 1,
    watched: (all) => eachJob(all, ({ function: job }) => job.metricErrors(total)),
  },
  FunctionThrottled: {
    says: 'is throttled: it wants more instances than it may have.',
    threshold: 0,
    periods: 3,
    watched: (all) => eachJob(all, ({ function: job }) => job.metricThrottles(total)),
  },
  FunctionNearItsTime: {
    says: 'takes nearly as long as it may.',
    threshold: 25_000,
    periods: 3,
    // The supervisor works through its whole minute, and is meant to.
    watched: (all) =>
      eachJob(all, ({ function: job }) => job.metricDuration({ ...fiveMinutes, statistic: 'p99' }))
        .filter(({ id }) => id !== 'supervisor')
        .map((watched) => ({ ...watched, threshold: 0.9 * all.job(watched.id).spec.timeoutMs })),
  },
  SupervisorSilent: {
    says: 'has not looked for late orders for ten minutes: nothing is healed meanwhile.',
    threshold: 1,
    below: true,
    periods: 2,
    watched: (all) => system('The supervisor', all.metrics.counted('supervisorPass', 'supervisor', total)),
  },
  ServiceAway: {
    says: 'has not found its remote service for ten minutes: orders that need it wait.',
    threshold: 0,
    periods: 2,
    watched: (all) =>
      eachJob(all, ({ spec }) => all.metrics.counted('serviceAway', spec.name, total)).filter(
        ({ id }) => all.job(id).spec.file === 'agent',
      ),
  },
  ChannelClosed: {
    says: 'finds a channel closed: what needs it waits until an operator opens it.',
    threshold: 0,
    periods: 1,
    watched: (all) => system('The supervisor', all.metrics.counted('channelClosed', 'supervisor', total)),
  },
  LateDetection: {
    says: 'sees deadlines more than a minute late.',
    threshold: 60_000,
    periods: 3,
    watched: (all) => system('The supervisor', all.metrics.detectionDelay(fiveMinutes)),
  },
  AlertsUndelivered: {
    says: 'could not be delivered to the operators.',
    threshold: 0,
    periods: 1,
    watched: ({ announcements }) => system('An alert', announcements.undelivered.metricApproximateNumberOfMessagesVisible(minute)),
  },
  ApiFails: {
    says: 'answers with 5xx.',
    threshold: 0,
    periods: 3,
    watched: ({ entrance }) => system('The API', entrance.api.metricServerError(total)),
  },
  ApiSlow: {
    says: 'takes more than three seconds for one call in a hundred.',
    threshold: 3000,
    periods: 3,
    watched: ({ entrance }) => system('The API', entrance.api.metricLatency({ ...fiveMinutes, statistic: 'p99' })),
  },
  TableThrottled: {
    says: 'refuses requests because there are too many.',
    threshold: 0,
    periods: 3,
    watched: ({ table }) =>
      ['Read', 'Write'].map((kind) => ({
        id: kind.toLowerCase(),
        what: `The table, asked to ${kind.toLowerCase()},`,
        metric: table.metric(`${kind}ThrottleEvents`, total),
      })),
  },
  TableFails: {
    says: 'answers with errors of its own.',
    threshold: 0,
    periods: 3,
    watched: ({ table }) =>
      ['BatchGetItem', 'PutItem', 'TransactWriteItems'].map((Operation) => ({
        id: Operation,
        what: `The table, asked for ${Operation},`,
        metric: table.metric('SystemErrors', { ...total, dimensionsMap: { TableName: table.tableName, Operation } }),
      })),
  },
} as const satisfies { readonly [name: string]: AlarmKind };
