import type { Ending } from '../../../test/processes/support.ts';

/** Does the work, then ends everything that it has started, newest first, whatever the result. */
export async function withCleanup<T>(work: (ending: Ending) => Promise<T>): Promise<T> {
  const ends: (() => Promise<void>)[] = [];
  try {
    return await work({ after: (end) => void ends.push(end) });
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}
