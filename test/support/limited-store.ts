import type { Clock } from '../../lib/clock.ts';
import { StoreUnavailableError } from '../../lib/errors.ts';
import type { StateHead } from '../../lib/record.ts';
import type { Fence, Store, Write } from '../../lib/store.ts';

/** What DynamoDB takes on one partition key, and how often the SDK repeats what it does not take. */
export const partition = { unitsPerSecond: 1000, unitBytes: 1024, attempts: 4, pauseMs: 200 } as const;

/** Of an item's attributes beside the blob, about. */
const headBytes = 600;
/** What one call takes. */
const lasts = { load: 8, write: 12 };

export interface Spent {
  units: number;
  written: number;
  refused: number;
  throttled: number;
}

/**
 * A store whose orders lie each on one partition of DynamoDB: 1,000 write units a second without a burst, one for each KB of the
 * item, and a refused conditional write costs as much as an accepted one.
 */
export function limitedStore(store: Store, clock: Clock): { readonly store: Store; readonly spent: Spent } {
  const spent: Spent = { units: 0, written: 0, refused: 0, throttled: 0 };
  const left = new Map<string, { units: number; at: number }>();

  async function pay(orderId: string, bytes: number): Promise<void> {
    const units = Math.ceil((bytes + headBytes) / partition.unitBytes);
    for (let attempt = 1; attempt <= partition.attempts; attempt++) {
      const now = clock.now();
      const { units: before, at } = left.get(orderId) ?? { units: partition.unitsPerSecond, at: now };
      const refilled = Math.min(partition.unitsPerSecond, before + ((now - at) * partition.unitsPerSecond) / 1000);
      left.set(orderId, { units: refilled > 0 ? refilled - units : refilled, at: now });
      if (refilled > 0) return void (spent.units += units);
      await clock.sleep(partition.pauseMs * attempt);
    }
    spent.throttled += 1;
    throw new StoreUnavailableError('The partition takes no more.', { fatal: false, throttled: true });
  }

  async function paid(head: StateHead, bytes: number, write: () => Promise<Write>): Promise<Write> {
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
