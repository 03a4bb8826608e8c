import { createTelemetry, type LogFields, type Telemetry } from '#ports/telemetry';
import type { Observation } from './observation.ts';

export function failureOf(where: string, error: unknown, orderId?: unknown): Extract<Observation, { type: 'failed' }> {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { type: 'failed', where, name, message, ...(typeof orderId === 'string' ? { orderId } : {}) };
}

/** Whom a line of the log, or of the metrics, is about. */
const abouts = ['orderId', 'messageId', 'agent', 'channel', 'queue', 'reason'] as const;
const levels: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error']);
const isAbout = (fields: LogFields): boolean => abouts.some((about) => typeof fields[about] === 'string' && fields[about] !== '');

/** A world that takes note of what it sees. */
interface Listener {
  saw(observation: Observation): void;
  carriedOut(site: string): void;
}

/** Writes nothing, and hears of every error; a line of the log that says nothing, or of nobody, is one. */
export const recordingTelemetry = (sight: Listener): Telemetry => ({
  ...createTelemetry({ level: 'off' }),
  count: (metric) => {
    sight.carriedOut(`emitted ${metric}`);
    if (metric.length < 5) sight.saw(failureOf('a count has no name', new Error(metric)));
  },
  measure: (metric, value) => {
    if (!metric.endsWith('Ms') || !(value >= 0 || Number.isFinite(value)))
      sight.saw(failureOf('measured', new Error(`${metric} ${value}`)));
  },
  log: (level, message, fields = {}) => {
    const { error, orderId, reason } = fields;
    if (!levels.has(level) || message.length < 8 || !isAbout(fields))
      sight.saw(failureOf('a line of the log', new Error(`${level}: ${message} ${JSON.stringify(fields)}`)));
    if (error !== undefined) sight.saw(failureOf(message, error, orderId));
    else if (level === 'error') sight.saw(failureOf(message, new Error(String(reason)), orderId));
  },
});
