import { createContext, Script } from 'node:vm';

/** The longest time that one call of a compute function may take, in milliseconds. */
export const computeMsMax = 1_000;

/** A compute function did not end within its time. The message quotes no data of an order. */
export class ComputeTimeout extends Error {
  override readonly name = 'ComputeTimeout';
}

/** An empty context for the script, which only calls `run`. The called function still sees the globals of its own module. */
const context = createContext(Object.create(null));
const call = new Script('run()', { filename: 'compute' });

/**
 * Calls a function and stops it after its time limit: an endless loop would hold up every order of the process, and its API.
 * Only `node:vm` can stop code that never returns; the call costs less than a millisecond more.
 */
export function withinTimeLimit<T>(name: string, run: () => T, timeoutMs = computeMsMax): T {
  context['run'] = run;
  try {
    return call.runInContext(context, { timeout: timeoutMs });
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new ComputeTimeout(
      `The function ran for more than ${timeoutMs.toLocaleString('en')} ms and was stopped. Look for an endless loop in ${name}, or move slow work into an operation of an agent.`,
      { cause: error },
    );
  } finally {
    context['run'] = undefined;
  }
}
