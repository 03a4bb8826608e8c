import { InvalidArgumentError } from 'commander';
import { isObject, type JsonObject } from '#core/data/json';
import { UsageError } from './errors.ts';
import { readData } from './submission-file.ts';
import type { Terminal } from './terminal.ts';

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const yearMs = 365 * unitsMs.d;

/** Parses `30s`, `15m`, `12h`, `7d` into milliseconds. */
export function spanOption(value: string): number {
  const [, number, unit] = /^(\d{1,9})([smhd])$/.exec(value) ?? [];
  const ms = Number(number) * unitsMs[unit as keyof typeof unitsMs];
  if (ms > 0 && ms <= yearMs) return ms;
  throw new InvalidArgumentError('Expected a time span such as 30s, 15m, 12h or 7d, at most one year.');
}

/** Parses a time, or a span before now, into a time of the API: `2h` is two hours ago. Other text stays as it is: the API refuses it. */
export const sinceOption =
  (now: () => number) =>
  (value: string): string =>
    /^\d+[smhd]$/.test(value) ? new Date(now() - spanOption(value)).toISOString() : textOption(value);

/** Parses a whole number from `min` to `max`. */
export const wholeOption =
  (min: number, max: number) =>
  (value: string): number => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };

/** Parses seconds, with or without a fraction. */
export function secondsOption(value: string): number {
  const seconds = /^\d{1,9}(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (seconds <= 86_400 * 365) return seconds;
  throw new InvalidArgumentError('Expected a number of seconds.');
}

/** Accepts text that is not blank. */
export function textOption(value: string): string {
  if (value.trim() !== '') return value;
  throw new InvalidArgumentError('Expected text that is not empty.');
}

/** Returns the fields of an instruction: a JSON object, given as text, as `@file`, or as `@-` for standard input. */
export async function fieldsIn(text: string, terminal: Pick<Terminal, 'readInput'>): Promise<JsonObject> {
  const fields = await readData(text, terminal);
  if (isObject(fields)) return fields as JsonObject;
  throw new UsageError('Expected --fields with a JSON object: {"path": "order/charge"}, @file, or @- for standard input.');
}

/** The help text of `--reason`. */
export const reasonHelp = 'why; kept in the history of the order (required, but not with --dry-run)';

/** Returns the reason of an instruction. A dry run changes nothing, so it needs no reason. */
export function reasonFor({ reason, dryRun }: { readonly reason?: string; readonly dryRun?: true }): string {
  if (reason !== undefined) return reason;
  if (dryRun) return 'a dry run';
  throw new UsageError("required option '--reason <text>' not specified. Only --dry-run needs no reason.");
}
