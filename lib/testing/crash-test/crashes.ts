import type { Crash, Point } from './points.ts';

/** Numbers the external calls of one run (store, queues, event bus, services), and says at which of them the process crashes. */
export class Crashes {
  readonly points: Point[] = [];
  /** The crashes that happened. */
  readonly happened: Point[] = [];
  /** The sites of all calls, without repetition: `store.update`. */
  readonly reached = new Set<string>();
  /** The crashes that have not happened yet, next one first. */
  private readonly pending: Crash[];
  private readonly polls = new Set<string>();
  private calls = 0;

  /** `crashes`: in the order of their calls. A crash with a lower number than an earlier crash never happens. */
  constructor(crashes: readonly Crash[]) {
    this.pending = [...crashes];
  }

  /**
   * Numbers a call and records it as a point at which the process can crash. `site`, `where`: as in `Point`. `poll`: for a call that only
   * polls, a text that changes with the data. Further polls with the same text find nothing new, so only the first is recorded.
   */
  pass(site: string, where: string, poll: string | undefined): Point {
    const point = { number: ++this.calls, site, where };
    this.reached.add(site);
    if (poll === undefined || !this.polls.has(poll)) this.points.push(point);
    if (poll !== undefined) this.polls.add(poll);
    return point;
  }

  /** Returns the position at which the process crashes at this call, if it does. */
  at(point: Point): Crash['position'] | undefined {
    const [crash] = this.pending;
    if (crash?.number !== point.number) return undefined;
    this.pending.shift();
    this.happened.push(point);
    return crash.position;
  }
}
