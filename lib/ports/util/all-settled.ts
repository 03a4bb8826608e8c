/**
 * Waits until all of them have ended, and then throws what the first that failed threw. With `Promise.all` the others would
 * still be on their way when the failure is answered; in Lambda they are frozen then, and go on in another run, or never.
 */
export async function allSettledOrThrow<T>(all: readonly Promise<T>[]): Promise<readonly T[]> {
  const ended = await Promise.allSettled(all);
  return ended.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
}
