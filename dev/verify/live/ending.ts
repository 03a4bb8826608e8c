import type { Ending } from '../../../test/processes/support.ts';

/** Runs the work of a figure, and ends everything that it has started, whatever the result. */
export async function withEnding<T>(work: (ending: Ending) => Promise<T>): Promise<T> {
  const ends: (() => Promise<void>)[] = [];
  try {
    return await work({ after: (end) => void ends.push(end) });
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}
