import { SetupError } from '#ports/errors';
import { FailedError, type Problem, RefusedError, UnreachableError, UsageError } from './errors.ts';
import type { Terminal } from './terminal.ts';
import { printable, spanText } from './text.ts';

/** Prints the error and its remedy; returns the exit code. */
export function report(
  error: unknown,
  { say }: Pick<Terminal, 'say'>,
  environment: { readonly [name: string]: string | undefined },
): number {
  const { lines, exitCode } = reported(error, environment['LOG_LEVEL'] === 'debug');
  for (const line of lines) say(line);
  return exitCode;
}

function reported(error: unknown, showStack: boolean): { readonly lines: readonly string[]; readonly exitCode: number } {
  // The caret under an expression keeps its place only if the line breaks stay.
  const one = (text: string, exitCode: number) => ({ lines: `redress: ${text}`.split('\n').map(printable), exitCode });
  if (error instanceof RefusedError) return { lines: problemLines(error.problem, error.retryAfterMs), exitCode: 1 };
  if (error instanceof FailedError) return one(error.message, 1);
  if (error instanceof UsageError) return one(error.message, 2);
  if (error instanceof SetupError) return one(`${error.message}${error.message.includes('\n') ? '\n' : ' '}${error.remedy}`, 2);
  if (error instanceof UnreachableError)
    return one(`${error.message} Start the system with npx redress start, or name its URL with --url or REDRESS_URL.`, 3);
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return showStack ? { lines: [`redress: ${stack}`], exitCode: 1 } : one(`${message} (set LOG_LEVEL=debug for the stack trace)`, 1);
}

/** Returns the lines of a problem, with one line for each reason. */
export function problemLines({ title, status, detail, code, errors = [], requestId }: Problem, retryAfterMs?: number): readonly string[] {
  const place = (pointer: string | undefined) => (pointer ? `${pointer}  ` : '');
  return [
    `redress: refused: ${title} (${status}${code ? ` ${code}` : ''})`,
    ...(detail ? [`  ${detail}`] : []),
    ...errors.map((error) => `  - ${place(error.pointer)}${error.detail ?? error.code ?? ''}`),
    ...(status === 401 ? ["  Sign in with --token or REDRESS_TOKEN, or name the system's data folder with --data."] : []),
    ...(retryAfterMs === undefined ? [] : [`  Try again in ${spanText(retryAfterMs)}.`]),
    ...(requestId ? [`  requestId ${requestId}`] : []),
  ].map(printable);
}
