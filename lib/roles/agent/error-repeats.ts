import { comparable, reasonOf } from '#core/data/thrown';

/**
 * Counter of how often the same programming error came in a row under one idempotency key. The count goes on
 * when the request is delivered again, and when a later request has the same key. A process that restarts counts from the beginning.
 */
export interface ErrorRepeats {
  /** Counts one more error under the key. Returns how many alike came in a row. */
  add(key: string, error: unknown): number;
  /** Ends the row of a key. */
  forget(key: string): void;
}

/** Number of keys that a process remembers. */
const keysMax = 1_000;

export function createErrorRepeats(): ErrorRepeats {
  const rows = new Map<string, { readonly reason: string; readonly times: number }>();
  return {
    add(key, error) {
      const reason = comparable(reasonOf(error));
      const before = rows.get(key);
      const times = before?.reason === reason ? before.times + 1 : 1;
      rows.delete(key);
      rows.set(key, { reason, times });
      const [oldest] = rows.keys();
      if (rows.size > keysMax && oldest !== undefined) rows.delete(oldest);
      return times;
    },
    forget: (key) => void rows.delete(key),
  };
}
