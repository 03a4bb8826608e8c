import { Duration } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { metricNamespace } from '#ports/telemetry';
import type { OrderProcessing } from './order-processing.ts';

/** What the system counts of itself, and what the platform counts of it, as metrics for alarms and dashboards. */
export class OrderMetrics {
  readonly #system: OrderProcessing;

  constructor(system: OrderProcessing) {
    this.#system = system;
  }

  /** Something that a role counts or measures: `expiryCounted`, `detectionDelayMs`. */
  counted(metricName: string, role: string, options: MetricOptions = {}): Metric {
    return new Metric({
      namespace: metricNamespace,
      metricName,
      dimensionsMap: { role },
      statistic: 'Sum',
      period: Duration.minutes(1),
      ...options,
    });
  }

  /** Alerts that went out: each is an order or a message that waits for a person. */
  alerts(options: MetricOptions = {}): Metric {
    return new Metric({
      namespace: 'AWS/Events',
      metricName: 'MatchedEvents',
      dimensionsMap: { EventBusName: this.#system.bus.eventBusName, RuleName: this.#system.announcements.rule.ruleName },
      statistic: 'Sum',
      period: Duration.minutes(5),
      ...options,
    });
  }

  /** How long a deadline had passed when the supervisor saw it, in milliseconds (F-47). */
  detectionDelay(options: MetricOptions = {}): Metric {
    return this.counted('detectionDelayMs', 'supervisor', { statistic: 'p99', ...options });
  }

  /** Orders that the supervisor looked at: what its passes cost follows it (F-47). */
  looked(options: MetricOptions = {}): Metric {
    return this.counted('supervisorLooked', 'supervisor', options);
  }
}
