import { Duration, Stack } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, type IMetric, PeriodOverride } from 'aws-cdk-lib/aws-cloudwatch';
import { isDeadLetterQueue } from '#ports/messages';
import type { OrderProcessing } from './order-processing.ts';

const period = { period: Duration.minutes(1) };

/** Creates the dashboard, which shows whether orders come in, make progress and wait. */
export function orderDashboard(system: OrderProcessing, { name }: { readonly name: string }): Dashboard {
  const { entrance, functions, queues, table, metrics } = system;
  const all = [...functions.values()];
  const graph = (title: string, left: readonly IMetric[], width = 8): GraphWidget =>
    new GraphWidget({ title, left: [...left], width, height: 6 });
  const waiting = queues.names.filter((queue) => !isDeadLetterQueue(queue));
  const dead = queues.names.filter(isDeadLetterQueue);
  return new Dashboard(system, 'Dashboard', {
    // Dashboards are global: the same deployment in a second region needs another name.
    dashboardName: `${name}-${Stack.of(system).region}`,
    periodOverride: PeriodOverride.AUTO,
    defaultInterval: Duration.hours(3),
    widgets: [
      [
        graph('API calls', [
          entrance.api.metricCount(period),
          entrance.api.metricClientError(period),
          entrance.api.metricServerError(period),
        ]),
        graph('API latency', [
          entrance.api.metricLatency({ ...period, statistic: 'p50' }),
          entrance.api.metricLatency({ ...period, statistic: 'p99' }),
        ]),
        graph('Alerts for operators', [metrics.alerts()]),
      ],
      [
        graph(
          'Messages waiting',
          waiting.map((queue) => queues.queue(queue).metricApproximateNumberOfMessagesVisible({ ...period, label: queue })),
          12,
        ),
        graph(
          'Age of the oldest message, seconds',
          waiting.map((queue) => queues.queue(queue).metricApproximateAgeOfOldestMessage({ ...period, label: queue })),
          12,
        ),
      ],
      [
        graph('Expired deadlines', [metrics.counted('expiryCounted', 'supervisor')]),
        graph('Detection delay, ms', [metrics.detectionDelay()]),
        graph('Orders the supervisor looked at', [metrics.looked()]),
      ],
      [
        graph(
          'Runs',
          all.map(({ function: lambda, spec }) => lambda.metricInvocations({ ...period, label: spec.name })),
          8,
        ),
        graph(
          'Failed runs',
          all.map(({ function: lambda, spec }) => lambda.metricErrors({ ...period, label: spec.name })),
          8,
        ),
        graph(
          'Messages in dead-letter queues',
          dead.map((queue) => queues.queue(queue).metricApproximateNumberOfMessagesVisible({ ...period, label: queue })),
          8,
        ),
      ],
      [
        graph('Read units', [table.metricConsumedReadCapacityUnits(period)], 12),
        graph('Write units', [table.metricConsumedWriteCapacityUnits(period)], 12),
      ],
    ],
  });
}
