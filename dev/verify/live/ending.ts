import type { Ending } from '../../../test/processes/support.ts';

/** What the work of a figure has started ends with it, whatever comes of it. */
export async function withEnding<T>(work: (ending: Ending) => Promise<T>): Promise<T> {
  const ends: (() => Promise<void>)[] = [];
  try {
    return await work({ after: (end) => void ends.push(end) });
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}
