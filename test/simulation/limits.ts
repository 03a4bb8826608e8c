import type { Item } from '#adapters/aws/dynamodb/items';
import { withRetries } from '#adapters/aws/dynamodb/retry';
import { tableFigures } from '#ports/limits';
import { Partitions, partition } from '../support/limited-store.ts';
import type { SimulatedHost } from './host.ts';
import type { Surroundings } from './surroundings.ts';

/** Errors with the names of the SDK, by which the store distinguishes them. */
class TooLarge extends Error {
  override readonly name = 'ValidationException';
}
class Throttled extends Error {
  override readonly name = 'ProvisionedThroughputExceededException';
}

/** A write as DynamoDB counts it. `times`: the factor for writes in a transaction. */
interface Metered {
  readonly orderId: string;
  readonly write: string;
  readonly items: readonly Item[];
  readonly times: 1 | 2;
}

/** The limits of DynamoDB for an item and for a partition key: the embedded store has neither. */
export class Limits {
  /** Orders with a smaller item limit than the program knows, in bytes. */
  readonly smaller = new Map<string, number>();
  private readonly partitions = new Partitions();
  private readonly around: Surroundings;

  constructor(around: Surroundings) {
    this.around = around;
  }

  /** Charges the write. A write whose condition fails costs as much as a successful one. */
  async metered({ orderId, write, items, times }: Metered, apply: () => Promise<unknown>): Promise<unknown> {
    const sizes = items.map(bytesOf);
    const bytes = Math.max(...sizes);
    const units = times * sizes.reduce((sum, each) => sum + Math.ceil(each / partition.unitBytes), 0);
    const tell = (outcome: 'written' | 'refused' | 'throttled' | 'too large') =>
      this.around.record({ type: 'metered', orderId, write, bytes, units, outcome });
    if (bytes > (this.smaller.get(orderId) ?? tableFigures.itemBytesMax)) {
      tell('too large');
      throw new TooLarge('Item size has exceeded the maximum allowed size');
    }
    if (!this.partitions.takes(orderId, units, this.around.timeline.now)) {
      tell('throttled');
      throw new Throttled('The level of configured provisioned throughput for the table was exceeded');
    }
    const answer = await apply();
    const { outcome = 'written' } = (answer ?? {}) as { readonly outcome?: string };
    tell(outcome === 'written' ? 'written' : 'refused');
    return answer;
  }

  /** Repeats throttled calls a few times, as the SDK does; finally rejects with the store's own error. */
  patiently<T>({ system: { clock } }: SimulatedHost, call: () => Promise<T>): Promise<T> {
    const repeated = async (): Promise<T> => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await call();
        } catch (error) {
          if (!(error instanceof Throttled) || attempt >= partition.attempts) throw error;
          await clock.sleep(partition.pauseMs * attempt);
        }
      }
    };
    return withRetries(repeated, { clock, random: () => this.around.chance.next() });
  }
}

/** Returns the size of an item as DynamoDB counts it: the bytes of names and values. */
const bytesOf = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + bytesIn(value), 0);

const bytesIn = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return typeof value === 'number' ? Math.ceil(String(value).length / 2) + 1 : 1;
};
