/**
 * Waits until all promises are settled, then throws the error of the first one that was rejected. `Promise.all` rejects while
 * the others still run. Lambda would freeze those, and they would resume in another invocation or not at all.
 */
export async function allSettledOrThrow<T extends readonly unknown[] | []>(all: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const ended = await Promise.allSettled(all);
  return ended.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  }) as { -readonly [K in keyof T]: Awaited<T[K]> };
}
