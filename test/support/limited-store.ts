import type { Clock } from '#ports/clock';
import { StoreUnavailableError } from '#ports/errors';
import type { StateHead } from '#ports/records';
import type { Fence, Patched, Store, Write } from '#ports/store';

/** The write limit of one DynamoDB partition key, and how often the SDK retries a throttled call. */
export const partition = { unitsPerSecond: 1000, unitBytes: 1024, attempts: 4, pauseMs: 200 } as const;

/** Approximate size of an item's attributes besides the blob. */
const headBytes = 600;
/** The time of one call, in milliseconds. */
const lasts = { load: 8, write: 12 };

export interface Spent {
  units: number;
  written: number;
  refused: number;
  throttled: number;
}

/** The units left of each partition key: they refill with time, and are not saved up. */
export class Partitions {
  private readonly left = new Map<string, { readonly units: number; readonly at: number }>();

  /** Whether the partition accepts a write of this size now. The last accepted write may exceed the units left. */
  takes(key: string, units: number, now: number): boolean {
    const { units: before, at } = this.left.get(key) ?? { units: partition.unitsPerSecond, at: now };
    const refilled = Math.min(partition.unitsPerSecond, before + (Math.max(0, now - at) * partition.unitsPerSecond) / 1000);
    this.left.set(key, { units: refilled > 0 ? refilled - units : refilled, at: Math.max(now, at) });
    return refilled > 0;
  }
}

/**
 * A store with each order on its own DynamoDB partition: 1,000 write units a second without a burst, one per KB of the
 * item. A refused conditional write costs as much as an accepted one.
 */
export function limitedStore(store: Store, clock: Clock): { readonly store: Store; readonly spent: Spent } {
  const spent: Spent = { units: 0, written: 0, refused: 0, throttled: 0 };
  const partitions = new Partitions();

  async function pay(orderId: string, bytes: number): Promise<void> {
    const units = Math.ceil((bytes + headBytes) / partition.unitBytes);
    for (let attempt = 1; attempt <= partition.attempts; attempt++) {
      if (partitions.takes(orderId, units, clock.now())) return void (spent.units += units);
      await clock.sleep(partition.pauseMs * attempt);
    }
    spent.throttled += 1;
    throw new StoreUnavailableError('The partition takes no more.', { fatal: false, throttled: true });
  }

  async function paid<W extends Patched | Write>(head: StateHead, bytes: number, write: () => Promise<W>): Promise<W> {
    await clock.sleep(lasts.write);
    await pay(head.orderId, bytes);
    const answer = await write();
    spent[answer.outcome] += 1;
    return answer;
  }

  return {
    spent,
    store: {
      ...store,
      load: (orderId) => clock.sleep(lasts.load).then(() => store.load(orderId)),
      update: (state, when, along) => paid(state, state.blob.length, () => store.update(state, when, along)),
      patch: async (head, when: Fence) => {
        const { state } = (await store.load(head.orderId)) ?? {};
        return paid(head, state?.blob.length ?? 0, () => store.patch(head, when));
      },
    },
  };
}
