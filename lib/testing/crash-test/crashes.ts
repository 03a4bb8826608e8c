import type { Crash, Point } from './points.ts';

/** Numbers the calls of a run, and says at which of them the process crashes. */
export class Crashes {
  readonly points: Point[] = [];
  /** The crashes that happened. */
  readonly happened: Point[] = [];
  /** The names of all calls: `store.update`. */
  readonly reached = new Set<string>();
  private readonly left: Crash[];
  private readonly polls = new Set<string>();
  private calls = 0;

  constructor(crashes: readonly Crash[]) {
    this.left = [...crashes];
  }

  /** Registers a call as a crash point. Polls of unchanged data, which have the same text, count as one point. */
  pass(site: string, where: string, poll: string | undefined): Point {
    const point = { number: ++this.calls, site, where };
    this.reached.add(site);
    if (poll === undefined || !this.polls.has(poll)) this.points.push(point);
    if (poll !== undefined) this.polls.add(poll);
    return point;
  }

  /** Returns the position at which the process crashes at this call, if it does. */
  at(point: Point): Crash['position'] | undefined {
    const [crash] = this.left;
    if (crash?.number !== point.number) return undefined;
    this.left.shift();
    this.happened.push(point);
    return crash.position;
  }
}
