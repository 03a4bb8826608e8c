import type { Clock } from '#ports/clock';

/** Asked once for each submission: 0 where it is taken in, else how many milliseconds it has to wait at least. */
export type ClientRate = (client: string) => number;

/** So many seconds' worth may come at once. */
const burstSeconds = 2;
/** Buckets that are full again are forgotten once there are so many. */
const rememberedMax = 10_000;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** A token bucket for each client, in this process alone: nothing is read or written for it. Without a rate, nobody waits. */
export function createClientRate(perSecond: number | undefined, clock: Clock): ClientRate {
  if (perSecond === undefined) return () => 0;
  const size = Math.max(1, perSecond * burstSeconds);
  const buckets = new Map<string, Bucket>();

  const filled = ({ tokens, at }: Bucket, now: number): number => Math.min(size, tokens + (Math.max(0, now - at) / 1000) * perSecond);

  const forgetFull = (now: number): void => {
    for (const [client, bucket] of buckets) if (filled(bucket, now) >= size) buckets.delete(client);
  };

  return (client) => {
    const now = clock.now();
    if (buckets.size >= rememberedMax) forgetFull(now);
    const tokens = filled(buckets.get(client) ?? { tokens: size, at: now }, now);
    if (tokens < 1) return Math.ceil(((1 - tokens) / perSecond) * 1000);
    buckets.set(client, { tokens: tokens - 1, at: now });
    return 0;
  };
}
