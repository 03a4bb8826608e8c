/** Merges sorted streams into one. `before`: whether the first key comes before the second one. */
export async function* merged<T>(streams: readonly AsyncGenerator<T>[], before: (one: T, other: T) => boolean): AsyncGenerator<T> {
  const heads = await Promise.all(streams.map((stream) => stream.next()));
  for (;;) {
    const first = heads.reduce(
      (best, head, index) => (!head.done && (best < 0 || before(head.value, (heads[best] as IteratorYieldResult<T>).value)) ? index : best),
      -1,
    );
    const head = heads[first];
    const stream = streams[first];
    if (!head || head.done || !stream) return;
    yield head.value;
    heads[first] = await stream.next();
  }
}
