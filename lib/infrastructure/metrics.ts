import { Duration } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { metricNamespace } from '#ports/telemetry';
import type { OrderProcessing } from './order-processing.ts';

/** Metrics of the system and of its platform, for alarms and dashboards. */
export class OrderMetrics {
  readonly #system: OrderProcessing;
  /** The name of the deployment, because all deployments of an account share the namespace. */
  readonly #deployment: string;

  constructor(system: OrderProcessing, deployment: string) {
    this.#system = system;
    this.#deployment = deployment;
  }

  /** Returns a metric that a role counts or measures: `expiryCounted`, `detectionDelayMs`. */
  counted(metricName: string, role: string, options: MetricOptions = {}): Metric {
    return new Metric({
      namespace: metricNamespace,
      metricName,
      dimensionsMap: { deployment: this.#deployment, role },
      statistic: 'Sum',
      period: Duration.minutes(1),
      ...options,
    });
  }

  /** Returns the number of alerts. Each requires a person to act: about an order, a message, or a closed channel. */
  alerts(options: MetricOptions = {}): Metric {
    return new Metric({
      namespace: 'AWS/Events',
      metricName: 'MatchedEvents',
      dimensionsMap: { EventBusName: this.#system.bus.eventBusName, RuleName: this.#system.announcements.ruleName },
      statistic: 'Sum',
      period: Duration.minutes(5),
      ...options,
    });
  }

  /** Returns the time from a deadline to its detection by the supervisor, in milliseconds (F-47). */
  detectionDelay(options: MetricOptions = {}): Metric {
    return this.counted('detectionDelayMs', 'supervisor', { statistic: 'p99', ...options });
  }

  /** Returns the number of orders that the supervisor examined, which determines the cost of its passes (F-47). */
  looked(options: MetricOptions = {}): Metric {
    return this.counted('supervisorLooked', 'supervisor', options);
  }
}
