import { createTelemetry, type LogFields, type Telemetry } from '#ports/telemetry';
import type { Observation } from './observation.ts';

/** Returns the observation of an error. */
export function failureOf(where: string, error: unknown, orderId?: unknown): Extract<Observation, { type: 'failed' }> {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { type: 'failed', where, name, message, ...(typeof orderId === 'string' ? { orderId } : {}) };
}

/** Fields that name the subject of a log line or a metric. */
const subjects = ['orderId', 'messageId', 'agent', 'channel', 'queue', 'reason', 'bulkId', 'entry'] as const;
const levels: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error']);
const hasSubject = (fields: LogFields): boolean => subjects.some((name) => typeof fields[name] === 'string' && fields[name] !== '');

/** A world that records observations. */
interface Observer {
  record(observation: Observation): void;
  /** Counts an event in the coverage of the run, such as an emitted metric. */
  carriedOut?(site: string): void;
}

/** Returns telemetry that reports every logged error to a world. A log line without a level, a message or a subject counts as an error. */
export const recordingTelemetry = (world: Observer): Telemetry => ({
  ...createTelemetry({ level: 'off', auditLines: false }),
  count: (metric) => {
    world.carriedOut?.(`emitted ${metric}`);
    if (metric === 'dropped') world.record({ type: 'drop counted' });
    if (metric.length < 5) world.record(failureOf('metric without a name', new Error(metric)));
  },
  measure: (metric, value) => {
    if (!metric.endsWith('Ms') || !(value >= 0 && Number.isFinite(value)))
      world.record(failureOf('invalid measurement', new Error(`${metric} ${value}`)));
  },
  log: (level, message, fields = {}) => {
    const { error, orderId, reason, messageId } = fields;
    if (message === 'dropped unprocessable message') world.record({ type: 'dropped', messageId: String(messageId) });
    if (!levels.has(level) || message.length < 8 || !hasSubject(fields))
      world.record(failureOf('invalid log line', new Error(`${level}: ${message} ${JSON.stringify(fields)}`)));
    if (error !== undefined) world.record(failureOf(message, error, orderId));
    else if (level === 'error') world.record(failureOf(message, new Error(String(reason)), orderId));
  },
});
