import { SetupError } from '../errors.ts';
import { FailedError, type Problem, RefusedError, UnreachableError, UsageError } from './errors.ts';
import type { Terminal } from './terminal.ts';
import { printable, spanText } from './text.ts';

/** Says what went wrong and what to do about it; returns the exit code. */
export function report(error: unknown, { say }: Pick<Terminal, 'say'>, environment: { readonly [name: string]: string | undefined }): number {
  if (error instanceof UsageError) return say(`redress: ${printable(error.message)}`), 2;
  if (error instanceof SetupError) return say(`redress: ${printable(`${error.message} ${error.remedy}`)}`), 2;
  if (error instanceof FailedError) return say(`redress: ${printable(error.message)}`), 1;
  if (error instanceof UnreachableError) return say(`redress: ${printable(error.message)} Is it running? npm start runs it; --url or REDRESS_URL names another place.`), 3;
  if (error instanceof RefusedError) {
    for (const line of problemLines(error.problem, error.retryAfterMs)) say(line);
    return 1;
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  say(`redress: ${environment['LOG_LEVEL'] === 'debug' ? stack : `${message} (LOG_LEVEL=debug shows where)`}`);
  return 1;
}

/** Everything that the system says against a request, the reasons each on a line. */
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
