import type { Clock } from '#ports/clock';

/** Takes a token for one submission; returns 0, or the milliseconds until the next token when there is none. */
export type ClientRate = (client: string) => number;

/** The size of a bucket, in seconds of the rate. */
const burstSeconds = 2;
/** From this number of buckets on, full ones are removed. A client without a bucket counts as having a full one. */
const rememberedMax = 10_000;

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/** Creates a token bucket for each client, in the memory of this process. Without a rate, no client waits. */
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
