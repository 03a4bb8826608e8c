import assert from 'node:assert/strict';

/** Reads again and again, until something is there. It fails with the last answer after a minute. */
export async function until<T>(read: () => Promise<T>, isThere: (answer: T) => boolean): Promise<T> {
  for (const end = Date.now() + 60_000; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    const answer = await read();
    if (isThere(answer)) return answer;
    assert.ok(Date.now() < end, JSON.stringify(answer));
  }
}
