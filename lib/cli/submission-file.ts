import { readFileSync } from 'node:fs';
import { UsageError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/** The body of a `POST /orders`, with the fields that the command line reads. */
export interface SubmissionBody {
  readonly order: unknown;
  readonly workflow?: unknown;
  readonly reference?: unknown;
  readonly [field: string]: unknown;
}

/** Reads a submission from a file, or from standard input for `-`. Wraps a bare order into a submission. */
export async function readSubmission(file: string, terminal: Pick<Terminal, 'readInput'>): Promise<SubmissionBody> {
  const value = await readJson(file, terminal);
  const isSubmission = typeof value === 'object' && value !== null && Object.hasOwn(value, 'order');
  return isSubmission ? (value as SubmissionBody) : { order: value };
}

/** Parses JSON given as text, as `@file`, or as `@-` for standard input. */
export async function readData(data: string, terminal: Pick<Terminal, 'readInput'>): Promise<unknown> {
  return data.startsWith('@') ? readJson(data.slice(1), terminal) : parsed(data, data);
}

const readJson = async (file: string, terminal: Pick<Terminal, 'readInput'>): Promise<unknown> =>
  parsed(file === '-' ? await terminal.readInput() : textOf(file), nameOf(file));

function parsed(text: string, name: string): unknown {
  try {
    // Some editors write a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new UsageError(`${name} is not JSON: ${(error as Error).message}.`);
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(code === 'ENOENT' ? `The file ${file} does not exist.` : `Cannot read ${file}: ${message}.`);
  }
}

const nameOf = (file: string): string => (file === '-' ? 'Standard input' : file);
