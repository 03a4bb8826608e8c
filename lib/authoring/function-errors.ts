/** Receives an exception of a function that runs inside the engine. Its message may quote secrets. */
export type FunctionErrorListener = (where: string, error: unknown) => void;

const listeners = new Set<FunctionErrorListener>();

/**
 * Calls the listener for each exception that a `compute` function or a custom activity throws. Returns a function that removes the
 * listener.
 */
export function onFunctionError(listener: FunctionErrorListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Calls a function of the app, and passes its exception on: to the listeners and to the caller. */
export function reportingErrors<T>(where: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    for (const listener of listeners) listener(where, error);
    throw error;
  }
}
