import type { JsonObject } from '#core/data/json';

/**
 * Log fields. The named ones also stand in the journal, so that a person can find the journal entry of a log line, and the log lines of an
 * entry (F-168).
 */
export interface LogFields {
  readonly orderId?: string;
  readonly requestId?: string;
  readonly seq?: number;
  readonly [key: string]: unknown;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface Telemetry {
  /** Whether lines of this level are written. Callers use it to skip fields that are costly to compute. */
  logs(level: LogLevel): boolean;
  log(level: LogLevel, message: string, fields?: LogFields): void;
  /** Writes a line at every log level, also at `off`: the record of what a person did. */
  audit(message: string, fields: LogFields): void;
  /** Increments a counter: `staleReply`, `raceLost`. */
  count(metric: string, by?: number): void;
  counts(): Readonly<Record<string, number>>;
  /** Records a value in the unit of the metric's name: `detectionDelayMs`. */
  measure(metric: string, value: number): void;
  /** Returns counts and measurements since the last call, as a log object of CloudWatch's embedded metric format; undefined if none. */
  embeddedMetrics(): JsonObject | undefined;
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const valueCharactersMax = 2048;
/** CloudWatch accepts at most this many values of one metric in a log object. */
const valuesMax = 100;

/** CloudWatch namespace of the metrics. Their dimensions are `deployment` and `role`: one account may have several deployments. */
export const metricNamespace = 'Redress';

const unitOf = (metric: string): string => (metric.endsWith('Ms') ? 'Milliseconds' : 'Count');

export interface TelemetryOptions {
  readonly level?: LogLevel | 'off';
  readonly write?: (line: string) => void;
  readonly role?: string;
  /** The name of the deployment. */
  readonly deployment?: string;
  /** Returns fields of each line that name the present run of a function. */
  readonly run?: () => LogFields;
  readonly now?: () => number;
  /** Returns the place in the app's code where an error was thrown. */
  readonly placeOf?: (error: Error) => string | undefined;
  /** Whether entries of the audit are lines, too. The terminal of a person needs none: the store has the entries. */
  readonly auditLines?: boolean;
  /** Lines of text for a person, or of JSON for programs. Default: `json`. */
  readonly format?: 'text' | 'json';
}

/** Returns telemetry that logs one event per line. It escapes control characters and truncates long texts. */
export function createTelemetry({
  level = 'info',
  write = (line) => void process.stderr.write(line),
  role,
  deployment = 'redress',
  run = () => ({}),
  now = () => Date.now(),
  placeOf = () => undefined,
  auditLines = true,
  format = 'json',
}: TelemetryOptions = {}): Telemetry {
  const counters: Record<string, number> = {};
  const reported: Record<string, number> = {};
  let measured: Record<string, number[]> = {};
  const short = (_: string, value: unknown): unknown => {
    if (value instanceof Error) return `${value.name}: ${value.message}`.slice(0, valueCharactersMax) + (placeOf(value) ?? '');
    return typeof value === 'string' && value.length > valueCharactersMax ? `${value.slice(0, valueCharactersMax)}…` : value;
  };
  const fieldText = ([name, value]: readonly [string, unknown]): readonly string[] =>
    value === undefined ? [] : [`${name}=${JSON.stringify(value, short)}`];
  const writeLine = (lineLevel: LogLevel, message: string, fields: LogFields): void => {
    const line =
      format === 'text'
        ? [lineLevel.padEnd(5), message, ...Object.entries(fields).flatMap(fieldText)].join(' ')
        : JSON.stringify(
            { time: new Date(now()).toISOString(), level: lineLevel, ...(role ? { role } : {}), ...run(), message, ...fields },
            short,
          );
    write(`${line.replace(unsafe, escaped)}\n`);
  };
  const from = level === 'off' ? levels.length : levels.indexOf(level);
  return {
    logs: (lineLevel) => levels.indexOf(lineLevel) >= from,
    log(lineLevel, message, fields = {}) {
      if (levels.indexOf(lineLevel) >= from) writeLine(lineLevel, message, fields);
    },
    audit(message, fields) {
      if (auditLines) writeLine('info', message, { ...fields, audit: true });
    },
    count(metric, by = 1) {
      counters[metric] = (counters[metric] ?? 0) + by;
    },
    counts: () => ({ ...counters }),
    measure(metric, value) {
      const values = (measured[metric] ??= []);
      if (values.length < valuesMax) values.push(value);
    },
    embeddedMetrics() {
      const counted = Object.entries(counters).flatMap(([name, total]) => {
        const since = total - (reported[name] ?? 0);
        reported[name] = total;
        return since > 0 ? [[name, since] as const] : [];
      });
      const values = measured;
      measured = {};
      const names = [...counted.map(([name]) => name), ...Object.keys(values)];
      if (names.length === 0) return undefined;
      const Metrics = names.map((Name) => ({ Name, Unit: unitOf(Name) }));
      const CloudWatchMetrics = [{ Namespace: metricNamespace, Dimensions: [['deployment', 'role']], Metrics }];
      const dimensions = { deployment, role: role ?? 'host' };
      return { _aws: { Timestamp: now(), CloudWatchMetrics }, ...dimensions, ...Object.fromEntries(counted), ...values };
    },
  };
}

/** Characters that terminals act on but JSON does not escape: C1 controls, line separators, bidirectional marks. */
const unsafe = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
