import { createTelemetry, type LogFields, type Telemetry } from '#ports/telemetry';
import type { Observation } from './observation.ts';

/** Returns the observation of an error. */
export function failureOf(where: string, error: unknown, orderId?: unknown): Extract<Observation, { type: 'failed' }> {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { type: 'failed', where, name, message, ...(typeof orderId === 'string' ? { orderId } : {}) };
}

/** The fields that say what a log line is about. */
const abouts = ['orderId', 'messageId', 'agent', 'channel', 'queue', 'reason'] as const;
const levels: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error']);
const isAbout = (fields: LogFields): boolean => abouts.some((about) => typeof fields[about] === 'string' && fields[about] !== '');

/** The world that records observations. */
interface Listener {
  record(observation: Observation): void;
  /** Counts a metric. */
  carriedOut?(site: string): void;
}

/** Returns telemetry that writes nothing and records every error. A log line without a message or a subject counts as an error. */
export const observedTelemetry = (sight: Listener): Telemetry => ({
  ...createTelemetry({ level: 'off' }),
  count: (metric) => {
    sight.carriedOut?.(`emitted ${metric}`);
    if (metric.length < 5) sight.record(failureOf('a metric has no name', new Error(metric)));
  },
  measure: (metric, value) => {
    if (!metric.endsWith('Ms') || !(value >= 0 || Number.isFinite(value)))
      sight.record(failureOf('measured', new Error(`${metric} ${value}`)));
  },
  log: (level, message, fields = {}) => {
    const { error, orderId, reason } = fields;
    if (!levels.has(level) || message.length < 8 || !isAbout(fields))
      sight.record(failureOf('a log line', new Error(`${level}: ${message} ${JSON.stringify(fields)}`)));
    if (error !== undefined) sight.record(failureOf(message, error, orderId));
    else if (level === 'error') sight.record(failureOf(message, new Error(String(reason)), orderId));
  },
});
