import type { Item } from '#adapters/aws/dynamodb/items';
import { withRetries } from '#adapters/aws/dynamodb/retry';
import { tableFigures } from '#ports/limits';
import { Partitions, partition } from '../support/limited-store.ts';
import type { SimulatedHost } from './host.ts';
import type { Surroundings } from './surroundings.ts';

/** As the SDK names them, for the store to tell them apart. */
class TooLarge extends Error {
  override readonly name = 'ValidationException';
}
class Throttled extends Error {
  override readonly name = 'ProvisionedThroughputExceededException';
}

/** A write as DynamoDB sees it. `times`: what one in a transaction costs more. */
interface Metered {
  readonly orderId: string;
  readonly write: string;
  readonly items: readonly Item[];
  readonly times: 1 | 2;
}

/** What DynamoDB takes of one item, and of what lies under one partition key: more than the embedded store minds. */
export class Limits {
  /** Orders of which it takes less than the program believes, in bytes of an item. */
  readonly smaller = new Map<string, number>();
  private readonly partitions = new Partitions();
  private readonly around: Surroundings;

  constructor(around: Surroundings) {
    this.around = around;
  }

  /** A write that finds something else there than it wants to replace costs as much as one that does not. */
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

  /** The SDK repeats what was throttled, a few times; what comes of it in the end is told in the words of the store. */
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

/** An item's names and values, as DynamoDB counts them. */
const bytesOf = (item: Item): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + bytesIn(value), 0);

const bytesIn = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return typeof value === 'number' ? Math.ceil(String(value).length / 2) + 1 : 1;
};
