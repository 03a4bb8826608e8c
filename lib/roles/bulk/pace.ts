import type { Clock } from '#ports/clock';
import { allSettledOrThrow } from '#ports/util/all-settled';

/** The largest number of items whose work runs at the same time. */
const atOnceMax = 16;
/** The largest delay that later starts still make up for. */
const behindMaxMs = 1_000;

/** Starts work at a steady rate. If starts are late by up to a second, the next ones follow at once, so that the rate holds. */
export class Pace {
  private readonly clock: Clock;
  private readonly intervalMs: number;
  /** The time at which the next item may start. */
  private next: number;

  constructor(clock: Clock, ratePerSecond: number) {
    this.clock = clock;
    this.intervalMs = 1_000 / ratePerSecond;
    this.next = clock.now();
  }

  /**
   * Starts the work of each item, in sequence and at the rate. After an error it starts no more, and awaits the work that it has started.
   */
  async each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    const running = new Set<Promise<void>>();
    const all: Promise<void>[] = [];
    let hasFailed = false;
    for (const item of items) {
      await this.waitForStart();
      while (running.size >= atOnceMax) await Promise.race(running);
      if (hasFailed) break;
      const one = work(item);
      const ended: Promise<void> = one.catch(() => void (hasFailed = true)).finally(() => running.delete(ended));
      running.add(ended);
      all.push(one);
    }
    await allSettledOrThrow(all);
  }

  /** Waits until the rate allows the next item. */
  private async waitForStart(): Promise<void> {
    const now = this.clock.now();
    this.next = Math.max(this.next, now - behindMaxMs);
    if (this.next > now) await this.clock.sleep(this.next - now);
    this.next += this.intervalMs;
  }
}
