import type { JsonObject } from '#core/data/json';

/** Fields that logs and the journal share, so that one leads to the other: orderId, requestId, seq (F-168). */
export interface LogFields {
  readonly orderId?: string;
  readonly requestId?: string;
  readonly seq?: number;
  readonly [key: string]: unknown;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface Telemetry {
  /** Whether lines of this level are written at all: what is costly to put together need not be. */
  logs(level: LogLevel): boolean;
  log(level: LogLevel, message: string, fields?: LogFields): void;
  /** Counts something: `staleReply`, `claimLost`. */
  count(metric: string, by?: number): void;
  counts(): Readonly<Record<string, number>>;
  /** Measures something, in the unit that its name says: `detectionDelayMs`. */
  measure(metric: string, value: number): void;
  /** What was counted and measured since the last time, as one object that CloudWatch reads out of the log; undefined when there is nothing. */
  embeddedMetrics(): JsonObject | undefined;
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const valueCharactersMax = 2048;
/** As many values as CloudWatch takes of one metric at a time. */
const valuesMax = 100;

/** Where CloudWatch shows what this system counts and measures; its dimension is `role`. */
export const metricNamespace = 'Redress';

const unitOf = (metric: string): string => (metric.endsWith('Ms') ? 'Milliseconds' : 'Count');

/** One JSON object a line. A value can't break out of its line, nor fill it: control characters are escaped, long texts cut. */
export function createTelemetry({
  level = 'info',
  write = (line) => void process.stderr.write(line),
  role,
  now = () => Date.now(),
}: {
  level?: LogLevel | 'off';
  write?: (line: string) => void;
  role?: string;
  now?: () => number;
} = {}): Telemetry {
  const counters: Record<string, number> = {};
  const reported: Record<string, number> = {};
  let measured: Record<string, number[]> = {};
  const from = level === 'off' ? levels.length : levels.indexOf(level);
  return {
    logs: (lineLevel) => levels.indexOf(lineLevel) >= from,
    log(lineLevel, message, fields = {}) {
      if (levels.indexOf(lineLevel) < from) return;
      const line = JSON.stringify(
        { time: new Date(now()).toISOString(), level: lineLevel, ...(role ? { role } : {}), message, ...fields },
        short,
      );
      write(`${line.replace(unsafe, escaped)}\n`);
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
      const CloudWatchMetrics = [{ Namespace: metricNamespace, Dimensions: [['role']], Metrics }];
      return { _aws: { Timestamp: now(), CloudWatchMetrics }, role: role ?? 'host', ...Object.fromEntries(counted), ...values };
    },
  };
}

const short = (_: string, value: unknown): unknown => {
  if (value instanceof Error) return `${value.name}: ${value.message}`.slice(0, valueCharactersMax);
  return typeof value === 'string' && value.length > valueCharactersMax ? `${value.slice(0, valueCharactersMax)}…` : value;
};

/** JSON escapes below U+0020 itself; a terminal also acts on these: C1 controls, line separators, and marks that turn the direction of writing. */
const unsafe = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
